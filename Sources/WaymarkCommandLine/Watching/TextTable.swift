internal import ProcessIO

/// Rows in columns, for people.
enum TextTable {
    /// A table behind an empty line; nothing without rows. The first, the widest columns are cut until all fit.
    static func lines(_ titles: [String], _ rows: [[String]], columns: Int) -> [String] {
        guard !rows.isEmpty else { return [] }
        let gaps = 2 * (titles.count - 1)
        var widths = titles.indices.map { column in
            ([titles] + rows).reduce(0) { max($0, TerminalText.columns(of: $1[column])) }
        }
        // The last column is as wide as there is room.
        while widths.dropLast().reduce(gaps, +) + titles[titles.count - 1].count > columns,
            let widest = widths.indices.dropLast().max(by: { widths[$0] < widths[$1] }), widths[widest] > 8
        {
            widths[widest] -= 1
        }
        let last = max(1, columns - widths.dropLast().reduce(gaps, +))
        widths[widths.count - 1] = min(widths[widths.count - 1], last)
        let lines = ([titles] + rows).map { row in
            zip(row, widths).map { self.padded($0, $1) }.joined(separator: "  ")
        }
        return [""]
            + lines.map { line in
                String(line.reversed().drop { $0 == " " }.reversed())
            }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        let fitted = TerminalText.fitted(text, columns: width)
        return fitted + String(repeating: " ", count: max(0, width - TerminalText.columns(of: fitted)))
    }
}
