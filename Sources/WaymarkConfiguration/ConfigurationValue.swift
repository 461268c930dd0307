internal import Yams

/// A value of the file, as the settings read it.
struct ConfigurationValue {
    let node: Node

    /// A text, number or truth value as it is written; nil for `null` and for nothing, which are no values.
    var text: String? { self.node.null == nil ? self.node.scalar?.string : nil }

    /// Texts of a list.
    var list: [String]? {
        guard let sequence = self.node.sequence else { return nil }
        let texts = sequence.compactMap { ConfigurationValue(node: $0).text }
        return texts.count == sequence.count ? texts : nil
    }

    /// true or false.
    var bool: Bool? { self.node.bool }

    /// Permissions of a file: three octal digits behind a 0. Without the 0 the digits are a decimal number in YAML.
    var mode: UInt32? {
        guard let text = self.text, text.utf8.count == 4, text.hasPrefix("0") else { return nil }
        return UInt32(text, radix: 8)
    }

    /// A whole number; `KiB` and `MiB` may follow.
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

    /// A whole number of `ms`, `s`, `m` or `h`.
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
