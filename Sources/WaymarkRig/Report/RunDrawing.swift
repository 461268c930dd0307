internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// A run as a drawing: what each endpoint showed over time, steps, faults and failures.
struct RunDrawing {
    private static let width = 960
    private static let left = 150
    private static let rowHeight = 34
    private static let top = 24
    /// So many marks of a kind are drawn; a run in a rain of faults has more.
    private static let marksMax = 400

    private let result: ScenarioResult
    private let history: History
    private let length: Int64

    init(_ result: ScenarioResult, _ history: History) {
        (self.result, self.history) = (result, history)
        self.length = max(result.end.nanoseconds, 1)
    }

    var svg: String {
        let endpoints = self.history.endpoints.map(\.id)
        let height = Self.top + endpoints.count * Self.rowHeight + 28
        var text =
            "<svg viewBox=\"0 0 \(Self.width) \(height)\" role=\"img\" aria-label=\"The run over time\">\n"
        text += self.axis(height)
        for (row, endpoint) in endpoints.enumerated() {
            text += self.row(endpoint, Self.top + row * Self.rowHeight)
        }
        return text + self.marks(height) + "</svg>\n"
    }

    private func x(_ instant: Instant) -> Int {
        let position = Double(instant.nanoseconds) / Double(self.length)
        return Self.left + Int(min(max(position, 0), 1) * Double(Self.width - Self.left - 20))
    }

    private func axis(_ height: Int) -> String {
        (0...4).map { part in
            let instant = Instant(nanoseconds: self.length / 4 * Int64(part))
            let x = self.x(instant)
            return "<line class=\"line\" x1=\"\(x)\" y1=\"18\" x2=\"\(x)\" y2=\"\(height - 22)\"/>"
                + "<text x=\"\(x)\" y=\"\(height - 8)\" text-anchor=\"middle\">\(ClockText.seconds(instant)) s</text>\n"
        }.joined()
    }

    private func row(_ endpoint: PeerID, _ y: Int) -> String {
        let steps = VehicleTimeLine(of: endpoint, in: self.history).steps
        var text = "<text x=\"0\" y=\"\(y + 15)\">\(Self.escaped("\(endpoint)"))</text>\n"
        for (index, step) in steps.enumerated() {
            let end = index + 1 < steps.count ? steps[index + 1].instant : self.result.end
            let (from, to) = (self.x(step.instant), self.x(end))
            let title = "<title>\(Self.escaped("\(ClockText.seconds(step.instant)) s: \(step.text)"))</title>"
            if step.isConnected {
                let name = step.isGuided ? "guided" : "connected"
                text +=
                    "<rect class=\"\(name)\" x=\"\(from)\" y=\"\(y)\" width=\"\(max(1, to - from))\" height=\"22\">\(title)</rect>\n"
            }
            text +=
                "<rect class=\"step\" x=\"\(from)\" y=\"\(y)\" width=\"1\" height=\"22\">\(title)</rect>\n"
        }
        return text
    }

    private func marks(_ height: Int) -> String {
        var text = ""
        var count = 0
        for entry in self.history.entries {
            let name: String
            switch entry.kind {
            case .step: name = "mark"
            case .fault: name = "fault"
            case .frame, .broken, .connection, .log: continue
            }
            count += 1
            guard count <= Self.marksMax else { break }
            text += self.line(name, entry.instant, EntryText(entry, in: self.history).text, height)
        }
        for expectation in self.result.expectations {
            guard case .failed(let failure) = expectation.verdict else { continue }
            text += self.line("failure", failure.instant, "failed: \(expectation.text)", height)
        }
        return text
    }

    private func line(_ name: String, _ instant: Instant, _ title: String, _ height: Int) -> String {
        let x = self.x(instant)
        return
            "<line class=\"\(name)\" stroke-width=\"2\" x1=\"\(x)\" y1=\"12\" x2=\"\(x)\" y2=\"\(height - 22)\">"
            + "<title>\(Self.escaped("\(ClockText.seconds(instant)) s: \(title)"))</title></line>\n"
    }

    private static func escaped(_ text: String) -> String { JUnitReport.escaped(text) }
}
