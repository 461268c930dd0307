/// Keeps parts of a line that are written from right to left from changing the order of the rest.
///
/// A terminal that follows Unicode's rules for bidirectional text moves numbers and brackets beside such a part to its other side. An
/// isolate keeps it together, and the rest of the line where it was written.
package enum WritingDirection {
    /// Begins a part that is written from right to left.
    private static let begin: Unicode.Scalar = "\u{2067}"
    /// Ends it.
    private static let end: Unicode.Scalar = "\u{2069}"

    /// Whether a character begins or ends an isolate.
    package static func isIsolate(_ scalar: Unicode.Scalar) -> Bool {
        (0x2066...0x2069).contains(scalar.value)
    }

    /// `text`, which contains no isolates, with each part that is written from right to left in an isolate.
    package static func isolated(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: self.isRightToLeft) else { return text }
        var isolated = String.UnicodeScalarView()
        var part = String.UnicodeScalarView()
        var waiting = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if self.isRightToLeft(scalar) {
                part.append(contentsOf: waiting)
                waiting.removeAll()
                part.append(scalar)
            } else if part.isEmpty {
                isolated.append(scalar)
            } else if self.continues(scalar), !(scalar == " " && waiting.last == " ") {
                waiting.append(scalar)
            } else {
                self.close(&part, waiting, &isolated)
                waiting.removeAll()
                isolated.append(scalar)
            }
        }
        self.close(&part, waiting, &isolated)
        return String(isolated)
    }

    private static func close(
        _ part: inout String.UnicodeScalarView, _ waiting: String.UnicodeScalarView,
        _ isolated: inout String.UnicodeScalarView
    ) {
        if !part.isEmpty {
            // Marks and joiners belong to the letter before them.
            let marks = waiting.prefix { self.isMark($0) }
            isolated.append(self.begin)
            isolated.append(contentsOf: part)
            isolated.append(contentsOf: marks)
            isolated.append(self.end)
            isolated.append(contentsOf: waiting.dropFirst(marks.count))
            part.removeAll()
        } else {
            isolated.append(contentsOf: waiting)
        }
    }

    /// `text` with an end for each isolate that has none, e.g. after a line was cut.
    package static func closed(_ text: String) -> String {
        var open = 0
        for scalar in text.unicodeScalars where self.isIsolate(scalar) {
            open = scalar == self.end ? max(0, open - 1) : open + 1
        }
        return open == 0 ? text : text + String(repeating: Character(self.end), count: open)
    }

    /// Whether a word of the same part may follow behind this character: lists, brackets and other punctuation end a part.
    private static func continues(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "-" || scalar == "'" || ("0"..."9").contains(scalar) || self.isMark(scalar)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    /// Whether letters of this kind are written from right to left: Hebrew, Arabic, Syriac, Thaana, N'Ko and other scripts in the blocks
    /// that Unicode reserves for these, with their digits and signs.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}
