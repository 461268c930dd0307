internal import Foundation
internal import WaymarkLint
internal import WaymarkTexts

/// Findings as lines, for people or for programs.
struct LintLines: Sendable {
    let isJSON: Bool
    /// Lines are broken at this width; nil: they are not broken.
    let columns: Int?
    var timeZone = TimeZone.current

    func finding(_ finding: Finding, at date: Date) {
        if self.isJSON {
            Terminal.line(LintJSON.line(finding, at: date))
        } else {
            self.write("\(WatchReport.clock(date, self.timeZone))  \(LintReport.line(finding))", hanging: 14)
        }
    }

    /// `object` has the keys that programs read beside the text.
    func notice(_ text: String, _ object: [String: Any], at date: Date) {
        if self.isJSON {
            Terminal.line(JSON.line(object.merging(["kind": "notice", "text": text]) { $1 }, at: date))
        } else {
            self.write("\(WatchReport.clock(date, self.timeZone))  -- \(text)", hanging: 14)
        }
    }

    /// How often each rule found something. `off`: the rules that could not judge.
    func summary(_ counts: [Linter.Count], off: [LintID], at date: Date) {
        if self.isJSON { return Terminal.line(LintJSON.summary(counts, off: off, at: date)) }
        for (index, line) in LintReport.summary(counts).enumerated() {
            self.write(line, hanging: index == 0 ? 0 : 4)
        }
    }

    private func write(_ line: String, hanging: Int) {
        let line = Terminal.printable(line)
        guard let columns else { return Terminal.line(line) }
        for part in Terminal.wrapped(line, columns: max(columns, hanging + 20), hanging: hanging) {
            Terminal.line(part)
        }
    }
}
