internal import Yams

/// A YAML value, converted to the types that settings have.
struct ConfigurationValue {
    let node: Node

    /// A scalar as written in the file; nil for `null` and for an empty value.
    var text: String? { self.node.null == nil ? self.node.scalar?.string : nil }

    /// A list of scalars.
    var list: [String]? {
        guard let sequence = self.node.sequence else { return nil }
        let texts = sequence.compactMap { ConfigurationValue(node: $0).text }
        return texts.count == sequence.count ? texts : nil
    }

    /// A scalar, or a list of scalars.
    var texts: [String]? { self.text.map { [$0] } ?? self.list }

    var bool: Bool? { self.node.bool }

    /// File permissions: 0 and three octal digits. The 0 is required because YAML reads other digits as a decimal number.
    var mode: UInt32? {
        guard let text = self.text, text.utf8.count == 4, text.hasPrefix("0") else { return nil }
        return UInt32(text, radix: 8)
    }

    /// An integer, optionally followed by `KiB` or `MiB`.
    var number: Int? {
        guard var text = self.text else { return nil }
        var factor = 1
        for (unit, size) in [("KiB", 1_024), ("MiB", 1_048_576)] where text.hasSuffix(unit) {
            text.removeLast(3)
            factor = size
        }
        guard let number = Int(text.replacing("_", with: "")) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    /// An integer followed by `ms`, `s`, `m` or `h`.
    var duration: Duration? {
        let units: [(String, Int64)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
        for (unit, milliseconds) in units {
            guard let text = self.text, text.hasSuffix(unit), let number = Int64(text.dropLast(unit.count)),
                (0...1_000_000_000).contains(number)
            else { continue }
            return .milliseconds(number * milliseconds)
        }
        return nil
    }
}
