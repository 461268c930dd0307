/// The numbers of a road as its reference names them, e.g. `A 9; E 45`.
package struct RoadNumbers: Sendable, Hashable {
    /// Without spaces and what follows the number, such as a direction: `I 95 North` and `I-95` are `I95`.
    package let numbers: Set<String>

    /// Reads `reference`, in which semicolons, commas and slashes separate numbers.
    package init(_ reference: String) {
        self.numbers = Set(
            reference.split { $0 == ";" || $0 == "," || $0 == "/" }.map(Self.number).filter { !$0.isEmpty })
    }

    /// Whether `next` is another road: both have numbers, and none in common.
    package func isLeft(for next: RoadNumbers) -> Bool {
        !self.numbers.isEmpty && !next.numbers.isEmpty && self.numbers.isDisjoint(with: next.numbers)
    }

    /// The text up to the end of the word with the first digit, since `I 35W` and `I 35E` are two roads; the whole text if it has no
    /// digit.
    private static func number(_ text: Substring) -> String {
        var number = ""
        var hasDigit = false
        for character in text {
            guard character.isLetter || character.isNumber else {
                if hasDigit { break }
                continue
            }
            hasDigit = hasDigit || character.isNumber
            number.append(contentsOf: character.uppercased())
        }
        return number
    }
}
