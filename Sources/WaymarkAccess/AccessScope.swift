/// The vehicles that a grant allows, without what does not matter for that.
///
/// Equal scopes allow the same vehicles, also of different policies. Scopes that differ may do so, too, if other patterns name them.
package struct AccessScope: Sendable, Hashable {
    /// The verdict on the vehicles that it names, apart from those that a part before it names.
    private struct Part: Sendable, Hashable {
        let isAllowed: Bool
        /// nil for every vehicle.
        var vehicles: Set<Glob>?
    }

    private let parts: [Part]
    /// The vehicles of a key, which are allowed at most; nil for every vehicle.
    private let limit: Set<Glob>?
    /// It allows every vehicle.
    package let isAll: Bool

    /// `rules`, in their order: what does not match any is refused. `limit`: the vehicles that a key names.
    init(_ rules: [(isAllowed: Bool, vehicles: GlobList?)], limit: GlobList?) {
        var parts: [Part] = []
        for rule in rules {
            let vehicles = rule.vehicles.flatMap { Self.names($0) }
            if let last = parts.indices.last, parts[last].isAllowed == rule.isAllowed {
                if let vehicles {
                    parts[last].vehicles?.formUnion(vehicles)
                } else {
                    parts[last].vehicles = nil
                }
            } else {
                parts.append(Part(isAllowed: rule.isAllowed, vehicles: vehicles))
            }
            if vehicles == nil { break }
        }
        if parts.last?.isAllowed == false { parts.removeLast() }
        self.parts = parts
        self.limit = parts.isEmpty ? nil : limit.flatMap { Self.names($0) }
        self.isAll = self.limit == nil && parts == [Part(isAllowed: true, vehicles: nil)]
    }

    /// The patterns of a list; nil if one of them is `*`.
    private static func names(_ list: GlobList) -> Set<Glob>? {
        list.globs.contains { $0.description.allSatisfy { $0 == "*" } } ? nil : Set(list.globs)
    }
}
