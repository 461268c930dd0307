internal import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkScenario

/// What a recording of a run says in `/events` beside what observers are told. Docs/cluster-json.md has every key.
struct RunNote {
    let instant: Instant
    /// Of the entry that it is about; nil: the last one.
    let number: UInt64?
    let object: JSONObject

    // MARK: Entries

    /// The line for an entry that is no frame; without its time.
    static func object(_ entry: History.Entry) -> JSONObject? {
        var object = JSONObject()
        switch entry.kind {
        case .connection(let peer, let change):
            (object["kind"], object["peer"]) = (.text("connection"), .text("\(peer)"))
            switch change {
            case .connecting: object["state"] = .text("connecting")
            case .admitted(let resumed):
                (object["state"], object["resumed"]) = (.text("connected"), .boolean(resumed))
            case .refused(let reason): (object["state"], object["reason"]) = (.text("refused"), .text(reason))
            case .ended(let code):
                object["state"] = .text("closed")
                if let code { object["code"] = .text("\(code)") }
            }
        case .fault(let fault):
            (object["kind"], object["fault"], object["text"]) = (
                .text("fault"), .text(fault.kind), .text(fault.text)
            )
            if let peer = fault.peer { object["peer"] = .text("\(peer)") }
        case .step(let step, let text):
            (object["kind"], object["text"]) = (.text("mark"), .text(text))
            object["step"] = .number(UInt64(step))
        case .log(let peer, let line):
            (object["kind"], object["text"]) = (.text("log"), .text(line))
            if let peer { object["peer"] = .text("\(peer)") }
        case .frame, .broken: return nil
        }
        return object
    }

    // MARK: Results

    /// Verdicts, findings and the end, in the order of their instants.
    static func all(of result: ScenarioResult, _ history: History) -> [RunNote] {
        let last = max(result.end, history.entries.last?.instant ?? result.end)
        let notes =
            result.expectations.map(Self.init(_:))
            + result.lints.flatMap { lint in lint.findings.map { RunNote($0, of: lint) } }
        // Why with the places: sorting alone may change the order of what is equal.
        let sorted = notes.enumerated().sorted {
            ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset)
        }
        var end = JSONObject()
        (end["kind"], end["verdict"]) = (.text("end"), .text(result.verdict))
        end.set(nonEmpty: "problem", result.problem ?? "")
        return sorted.map(\.element) + [RunNote(instant: last, number: nil, object: end)]
    }

    private init(instant: Instant, number: UInt64?, object: JSONObject) {
        (self.instant, self.number, self.object) = (instant, number, object)
    }

    private init(_ expectation: ReportedExpectation) {
        var object = JSONObject()
        (object["kind"], object["text"]) = (.text("verdict"), .text(expectation.text))
        object["line"] = .number(UInt64(clamping: expectation.location.line))
        object["column"] = .number(UInt64(clamping: expectation.location.column))
        object.set(nonEmpty: "step", expectation.step)
        switch expectation.verdict {
        case .passed(let instant, _):
            object["verdict"] = .text("passed")
            self.init(instant: instant, number: nil, object: object)
        case .failed(let failure):
            object["verdict"] = .text("failed")
            object["expected"] = .text(failure.expected)
            self.init(instant: failure.instant, number: nil, object: object)
        }
    }

    private init(_ finding: ReportedLint.Finding, of lint: ReportedLint) {
        var object = JSONObject()
        (object["kind"], object["rule"]) = (.text("finding"), .text(lint.rule))
        object["text"] = .text(finding.text)
        if let peer = finding.peer { object["peer"] = .text("\(peer)") }
        self.init(instant: finding.instant, number: UInt64(finding.index) + 1, object: object)
    }
}
