internal import ExpectedState
internal import WaymarkModel
internal import WaymarkProtocol

/// How two values differ, field by field, as reports print it.
enum DifferingFields {
    /// So many fields of a value are named.
    private static let fieldsMax = 8
    /// A longer text is cut.
    private static let textMax = 120

    static func of(_ difference: DriveDifference) -> [FieldDifference] {
        let (name, mine, theirs) = (difference.name, difference.mine, difference.theirs)
        var found: [FieldDifference] = []
        // Why also of optional values: a cast looks into them.
        if let mine = mine as? any FieldObject, let theirs = theirs as? any FieldObject {
            found = self.between(mine, theirs, name)
        } else if let mine = mine as? Publication, let theirs = theirs as? Publication,
            mine.type == theirs.type
        {
            found = self.between(mine, theirs, PublicationFields.content(mine.type), name)
        } else if let mine = mine as? [any FieldObject], let theirs = theirs as? [any FieldObject],
            mine.count == theirs.count
        {
            for (index, pair) in zip(mine, theirs).enumerated() where found.count < self.fieldsMax {
                found += self.between(pair.0, pair.1, "\(name)[\(index)]")
            }
        }
        guard found.isEmpty else { return Array(found.prefix(self.fieldsMax)) }
        return [FieldDifference(name, expected: self.text(mine), seen: self.text(theirs))]
    }

    private static func between<Object: FieldObject>(
        _ mine: Object, _ theirs: any FieldObject, _ path: String
    ) -> [FieldDifference] {
        guard let theirs = theirs as? Object else { return [] }
        return self.between(mine, theirs, Object.fields, path)
    }

    private static func between<Root>(
        _ mine: Root, _ theirs: Root, _ keys: [FieldKey<Root>], _ path: String
    ) -> [FieldDifference] {
        keys.flatMap { key in
            self.between(key.read(mine), key.read(theirs), key.type, "\(path).\(key.name)")
        }
    }

    private static func between(
        _ mine: FieldValue?, _ theirs: FieldValue?, _ type: FieldType, _ path: String
    ) -> [FieldDifference] {
        switch (mine, theirs) {
        case (nil, nil): return []
        case (.object(let mine)?, .object(let theirs)?): return self.between(mine, theirs, path)
        case (.list(let mine)?, .list(let theirs)?) where mine.count == theirs.count:
            return (0..<mine.count).flatMap { index in
                self.between(mine[field: index], theirs[field: index], type.element, "\(path)[\(index)]")
            }
        case (let mine?, let theirs?) where mine.isEqual(to: theirs): return []
        default:
            let texts = [mine, theirs].map { self.cut($0?.text(type) ?? "nothing") }
            return [FieldDifference(path, expected: texts[0], seen: texts[1])]
        }
    }

    private static func text(_ value: Any) -> String {
        if let value = value as? any FieldObject { return value.text }
        if let value = value as? any WireEnumeration { return value.name }
        if let value = value as? Publication { return "\(value.type)" }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { self.text($0.value) } ?? "nothing"
        case .collection:
            let elements = mirror.children.map { child in
                (child.value as? String).map { "\"\($0)\"" } ?? self.text(child.value)
            }
            return self.cut("[\(elements.joined(separator: ", "))]")
        default: return self.cut("\(value)")
        }
    }

    private static func cut(_ text: String) -> String {
        text.count > self.textMax ? text.prefix(self.textMax - 3) + "…" : text
    }
}
