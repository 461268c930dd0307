internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkRig
internal import WaymarkTexts

/// What a recording tells, as `waymark watch` would have printed it.
struct RecordedReport {
    private var report: WatchReport
    private let options: WatchReport.Options

    init(_ options: WatchReport.Options) {
        self.report = WatchReport(options)
        self.options = options
    }

    // MARK: Lines for people

    /// The line for an entry; nil if another one says it, too.
    mutating func line(for entry: RecordedEntry, _ state: RecordedState) -> String? {
        switch entry.content {
        case .frame(let frame):
            let note: String? =
                switch frame.delivery {
                case .whole: nil
                case .dropped: "dropped by a fault"
                case .corrupted: "corrupted by a fault"
                case .repeated: "sent again"
                }
            return self.report.line(for: RecordedJSON.update(entry, frame, state), note: note)
        case .broken(let bytes, _, let peer):
            return self.report.notice(
                "\(peer): \(GuidanceText.counted(bytes.count, "byte")) that are no frame", at: entry.time.date
            )
        case .state: return nil
        case .event(let text):
            guard let object = RecordedJSON.object(text), let kind = object["kind"] as? String else {
                return nil
            }
            guard kind != "event" else {
                let event = GatewayUpdate.Content.event(RecordedJSON.event(object))
                return self.report.line(
                    for: .recorded(event, number: UInt64(entry.number), at: entry.time.date))
            }
            guard let text = self.text(kind, object) else { return nil }
            return self.report.notice(text, at: entry.time.date)
        }
    }

    /// A run in virtual time has no time of day: it begins at 0:00.
    static func timeZone(of recording: Recording) -> TimeZone {
        recording.origin?.run?.clock == RunClock.virtual.rawValue ? .gmt : .current
    }

    /// The gateway's state, in lines: what sessions there are, for whom, and what they retain.
    func lines(of state: RecordedState, at time: RecordingTime) -> [String] {
        let gateway = state.gateway
        let counts = [
            GuidanceText.counted(gateway.vehicles.count, "vehicle"),
            GuidanceText.counted(gateway.clients.count, "client"),
            GuidanceText.counted(gateway.sessions.count, "session"),
        ]
        var lines = [self.report.notice(counts.joined(separator: ", "), at: time.date)]
        for (id, session) in gateway.sessions.sorted(by: { $0.key < $1.key }) {
            var parts = ["session \(id.rawValue) of \(session.client)", "\(session.phase)"]
            if session.isSuspended { parts.append("its client is away") }
            let vehicles = state.peers.vehicles(of: id).map(\.rawValue).sorted()
            parts.append(vehicles.isEmpty ? "for no vehicle" : "for \(vehicles.joined(separator: ", "))")
            lines.append(self.cut("  " + parts.joined(separator: ", ")))
            for frame in gateway.retained[id]?.frames ?? [] {
                let observed = ObservedFrame.recorded(
                    frame, .from(session.client.rawValue), to: [], isRedacted: false, isRejected: false)
                lines.append(self.cut("    " + FrameText.text(observed)))
            }
        }
        return lines
    }

    private func cut(_ line: String) -> String {
        let line = Terminal.printable(line)
        guard let columns = self.options.columns else { return line }
        return Terminal.fitted(line, columns: columns)
    }

    /// An event in words; nil if another line says it, too.
    private func text(_ kind: String, _ object: [String: Any]) -> String? {
        func value(_ key: String) -> String { object[key].map { "\($0)" } ?? "" }
        let peer = value("peer")
        switch kind {
        case "connection" where !peer.isEmpty:
            let reason = value("reason").isEmpty ? value("code") : value("reason")
            guard self.options.isEverythingShown || value("state") == "refused" else { return nil }
            return "\(peer): \(value("state"))\(reason.isEmpty ? "" : ", \(reason)")"
        case "fault": return "fault \(value("fault"))\(peer.isEmpty ? "" : " of \(peer)"): \(value("text"))"
        case "mark" where object["step"] != nil:
            return "step \((object["step"] as? Int ?? 0) &+ 1): \(value("text"))"
        case "verdict":
            let word = value("verdict") == "passed" ? "passed" : "FAILED"
            return "\(word)  \(value("line")):\(value("column")) \(value("text"))"
        case "finding": return "\(value("rule"))  \(peer.isEmpty ? "" : "\(peer): ")\(value("text"))"
        case "log":
            return self.options.isEverythingShown ? "\(peer.isEmpty ? "" : "\(peer): ")\(value("text"))" : nil
        case "end": return "the run is over: \(value("verdict"))"
        default: return Self.text(ofRecorder: kind, object)
        }
    }

    private static func text(ofRecorder kind: String, _ object: [String: Any]) -> String {
        switch kind {
        case "dropped": "\(object["count"] ?? "some") entries are missing: the recorder read too slowly"
        case "synchronized": "the whole state was told by gateway \(object["instance"] ?? "")"
        case "connection":
            switch (object["state"] as? String, object["resumed"] as? Bool) {
            case ("connecting", _): "the recorder's connection was lost"
            case (_, true): "the recorder's connection is back"
            default: "the recorder's connection is back; what happened meanwhile is missing"
            }
        default: JSON.line(object)
        }
    }
}
