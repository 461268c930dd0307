/// Finds what a misspelt word may mean.
package enum Spelling {
    /// The names that are at most two edits away, or begin with the word; the nearest first.
    package static func nearest(to word: String, of names: [String]) -> [String] {
        let word = String(word.prefix(64))
        let edits = names.enumerated().map {
            (edits: Self.edits(word.lowercased(), $1.lowercased()), place: $0, name: $1)
        }
        let near = edits.filter {
            $0.edits <= max(1, min(2, $0.name.count / 3)) || (word.count > 2 && $0.name.hasPrefix(word))
        }
        return near.sorted { ($0.edits, $0.place) < ($1.edits, $1.place) }.prefix(3).map(\.name)
    }

    /// `; did you mean a, or b?`, or nothing.
    package static func hint(_ word: String, of names: [String]) -> String {
        let near = Self.nearest(to: word, of: names)
        return near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
    }

    /// How many letters must be inserted, deleted, replaced or swapped.
    private static func edits(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var rows = [Array(0...second.count)]
        for (index, letter) in first.enumerated() {
            var row = [index + 1]
            for (other, otherLetter) in second.enumerated() {
                let replaced = rows[index][other] + (letter == otherLetter ? 0 : 1)
                row.append(min(replaced, rows[index][other + 1] + 1, row[other] + 1))
                if index > 0, other > 0, letter == second[other - 1], first[index - 1] == otherLetter {
                    row[other + 1] = min(row[other + 1], rows[index - 1][other - 1] + 1)
                }
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
