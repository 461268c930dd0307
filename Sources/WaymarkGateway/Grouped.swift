/// Elements in order, in groups about which the access rules say the same, so that a search asks the rules once for each group.
///
/// How many groups there are follows from the rules, not from the number of elements.
struct Grouped<Group: Sendable & Hashable, Element: Sendable & Hashable & Comparable>: Sendable, Hashable {
    /// Each has elements.
    private(set) var groups: [Group: SortedSet<Element>] = [:]

    var isEmpty: Bool { self.groups.isEmpty }
    var count: Int { self.groups.values.reduce(0) { $0 + $1.count } }

    mutating func insert(_ element: Element, in group: Group) {
        self.groups[group, default: SortedSet()].insert(element)
    }

    /// Removes an element if it is in the group.
    mutating func remove(_ element: Element, of group: Group) {
        self.groups[group]?.remove(element)
        if self.groups[group]?.isEmpty == true { self.groups[group] = nil }
    }

    /// The first element after another one, or the first of all, in the groups that `isIncluded` accepts.
    func first(after element: Element? = nil, in isIncluded: (Group) -> Bool) -> Element? {
        var first: Element?
        for (group, elements) in self.groups {
            guard let next = elements.first(after: element), first.map({ next < $0 }) ?? true,
                isIncluded(group)
            else { continue }
            first = next
        }
        return first
    }
}
