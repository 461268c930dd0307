extension Dictionary {
    /// Reads or changes a value in place.
    ///
    /// Why not `values[index]`: reading through it copies the whole value and retains everything that it holds.
    @inline(__always)
    mutating func withValue<Result>(at index: Index, _ body: (inout Value) -> Result) -> Result {
        body(&self.values[index])
    }
}
