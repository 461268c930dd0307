internal import WaymarkProtocol

/// Findings in words, for people.
package enum LintReport {
    /// A line for a finding, without its time.
    package static func line(_ finding: Finding) -> String {
        var place = finding.session == .none ? [] : ["session \(finding.session.rawValue)"]
        if !finding.field.isEmpty { place.append(finding.field) }
        let suffix = place.isEmpty ? "" : " (\(place.joined(separator: ", ")))"
        return "\(finding.rule)  \(finding.peer): \(finding.text)\(suffix)"
    }

    /// Lines about all that was found: a line for each rule, what was allowed, and which allowances can be removed.
    package static func summary(_ counts: [Linter.Count]) -> [String] {
        let found = counts.filter { $0.found > 0 && $0.allowance == nil }
        let total = found.reduce(0) { $0 + $1.found }
        var lines = [total == 0 ? "no findings" : "\(total) finding\(total == 1 ? "" : "s")"]
        for count in found {
            let omitted = count.omitted > 0 ? " \(count.omitted) of them were left out." : ""
            lines.append("\(count.rule)  \(count.found)  \(count.rule.sentence)\(omitted)")
        }
        for count in counts {
            guard let reason = count.allowance else { continue }
            lines.append(
                count.found == 0
                    ? "\(count.rule)  0  not found, so it need not be allowed"
                    : "\(count.rule)  \(count.found)  allowed: \(reason)")
        }
        return lines
    }
}
