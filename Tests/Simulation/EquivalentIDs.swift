internal import WaymarkProtocol

/// Ids in pairs that Unicode calls canonically equivalent, which are different ids.
enum EquivalentIDs {
    private static let accented = (composed: "\u{E9}", decomposed: "e\u{301}")

    /// The id of a number from 1 on. An odd one is equivalent to the next.
    static func id(_ prefix: String, _ number: Int) -> Identifier {
        let end = number.isMultiple(of: 2) ? Self.accented.decomposed : Self.accented.composed
        return "\(prefix)\((number + 1) / 2)\(end)"
    }

    /// The other one of its pair; nil for an id of another kind.
    static func twin(of id: Identifier) -> Identifier? {
        let scalars = Array(id.rawValue.unicodeScalars)
        for (end, other) in [
            (Self.accented.composed, Self.accented.decomposed),
            (Self.accented.decomposed, Self.accented.composed),
        ] {
            let count = end.unicodeScalars.count
            guard scalars.suffix(count).elementsEqual(end.unicodeScalars) else { continue }
            var text = String.UnicodeScalarView(scalars.dropLast(count))
            text.append(contentsOf: other.unicodeScalars)
            return Identifier(String(text))
        }
        return nil
    }
}
