internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// Results as one HTML file without scripts: what the terminal shows, and a drawing of each run.
package enum HTMLReport {
    package static func text(_ results: [ScenarioResult]) -> String {
        let summary = ScenarioText.summary(results)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <title>waymark test: \(summary)</title>
            <style>\(self.style)</style>
            </head>
            <body>
            <h1>waymark test: \(summary)</h1>
            \(self.contents(results))\(results.enumerated().map { self.section($1, $0) }.joined())</body>
            </html>

            """
    }

    private static let style = """
        :root { color-scheme: light dark; }
        body { font: 15px/1.5 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
        pre { font: 13px/1.4 monospace; overflow-x: auto; padding: .75rem; border: 1px solid #8886; }
        table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem .8rem .15rem 0; }
        h2 { margin-top: 2.5rem; } svg { width: 100%; height: auto; }
        .passed { color: #1a7f37; } .failed, .broken { color: #c62828; font-weight: bold; }
        svg text { font: 11px sans-serif; fill: currentColor; } .line { stroke: #8886; }
        .connected { fill: #8884; } .guided { fill: #2a7ae4aa; } .step { fill: currentColor; }
        .fault { stroke: #e07b00; } .failure { stroke: #c62828; } .mark { stroke: #8888; stroke-dasharray: 2 3; }
        """

    private static func word(_ result: ScenarioResult) -> String {
        result.problem != nil ? "broken" : result.hasPassed ? "passed" : "failed"
    }

    private static func contents(_ results: [ScenarioResult]) -> String {
        let rows = results.enumerated().map { index, result in
            "<tr><td class=\"\(self.word(result))\">\(self.word(result))</td>"
                + "<td><a href=\"#s\(index)\">\(self.escaped(result.file))</a></td>"
                + "<td>\(result.clock), seed \(result.seed)</td>"
                + "<td>\(result.expectations.count(where: \.hasPassed)) of \(result.expectations.count)</td></tr>\n"
        }
        return
            "<table>\n<tr><th></th><th>scenario</th><th>run</th><th>expectations</th></tr>\n\(rows.joined())</table>\n"
    }

    private static func section(_ result: ScenarioResult, _ index: Int) -> String {
        var text =
            "<h2 id=\"s\(index)\"><span class=\"\(self.word(result))\">\(self.word(result))</span> "
            + "\(self.escaped(result.file))</h2>\n"
        if !result.about.isEmpty { text += "<p>\(self.escaped(result.about))</p>\n" }
        text +=
            "<p>\(result.clock) clock, seed \(result.seed), \(ClockText.seconds(result.end)) s, "
            + "\(GuidanceText.counted(result.entryCount, "line")) of history</p>\n"
        if let recording = result.recording {
            text += "<p>recording: <code>\(self.escaped(recording))</code></p>\n"
        }
        text += result.drawing
        text += "<table>\n" + result.expectations.map(self.row).joined() + "</table>\n"
        if !result.hasPassed {
            let lines = ScenarioText(result).lines
            text += "<pre>\(lines.map(self.escaped).joined(separator: "\n"))</pre>\n"
        }
        return text
    }

    private static func row(_ expectation: ReportedExpectation) -> String {
        let word = expectation.hasPassed ? "passed" : "failed"
        let place = "\(expectation.location.line):\(expectation.location.column)"
        return
            "<tr><td class=\"\(word)\">\(word)</td><td>\(place)</td><td>\(self.escaped(expectation.text))</td>"
            + "<td>\(self.note(expectation.verdict))</td></tr>\n"
    }

    private static func note(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed(let instant, let margin):
            let left = margin.map { ", \(ClockText.duration($0)) left" } ?? ""
            return "at \(ClockText.seconds(instant)) s\(left)"
        case .failed(let failure): return "at \(ClockText.seconds(failure.instant)) s"
        }
    }

    private static func escaped(_ text: String) -> String { JUnitReport.escaped(text) }
}
