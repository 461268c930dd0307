extension Dictionary {
    /// Looks at a value in its place, and may change it there.
    ///
    /// Why: what is read through ``values`` is a copy of the whole value, and counts references to all that it holds.
    @inline(__always)
    mutating func look<Result>(at place: Index, _ body: (inout Value) -> Result) -> Result {
        body(&self.values[place])
    }
}
