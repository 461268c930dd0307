internal import WaymarkClient
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRig
internal import WaymarkScenario
internal import WaymarkTexts

/// A run as lines of JSON: one for the run, and one for each entry of its history. Docs/cluster-json.md has every key.
enum RunTrace {
    /// Equal runs are equal lines.
    static func lines(_ history: History, of result: ScenarioResult) -> String {
        var text = JSON.line(["kind": "run", "file": result.file, "seed": Int(result.seed)]) + "\n"
        for entry in history.entries { text += JSON.line(self.object(entry)) + "\n" }
        return text
    }

    private static func object(_ entry: History.Entry) -> [String: Any] {
        var object: [String: Any] = ["nanoseconds": Int(entry.instant.nanoseconds)]
        object.set("peer", entry.peer.map { "\($0)" })
        switch entry.kind {
        case .frame(let crossed): object.merge(self.object(crossed)) { $1 }
        case .broken(_, let way, let bytes):
            object["kind"] = "broken"
            object["way"] = self.word(way)
            object["hex"] = self.hex(bytes)
        case .connection(_, let event):
            object["kind"] = "connection"
            switch event {
            case .connecting: object["state"] = "connecting"
            case .admitted(let resumed): (object["state"], object["resumed"]) = ("connected", resumed)
            case .refused(let reason): (object["state"], object["reason"]) = ("refused", reason)
            case .ended(let code):
                object["state"] = "closed"
                object.set("code", code.map { "\($0)" })
            }
        case .fault(let fault):
            object["kind"] = "fault"
            (object["fault"], object["text"]) = (fault.kind, fault.text)
        case .step(let number, let text):
            object["kind"] = "step"
            (object["step"], object["text"]) = (number, text)
        case .log(_, let line):
            object["kind"] = "log"
            object["text"] = line
        }
        return object
    }

    private static func object(_ crossed: CrossedFrame) -> [String: Any] {
        let header = crossed.frame.header
        var object: [String: Any] = [
            "kind": "frame", "way": self.word(crossed.way), "message": MessagePattern.name(header.rawType),
            "session": Int(header.session.rawValue), "sequence": Int(clamping: header.sequence),
            "sentNanoseconds": Int(crossed.sent.nanoseconds), "delivery": "\(crossed.delivery)",
            "hex": self.hex(crossed.frame.bytes),
        ]
        if let message = crossed.message { object.merge(MessageJSON.content(message)) { $1 } }
        if let rejection = crossed.rejection {
            object["rejection"] = [
                "code": "\(rejection.code)", "field": rejection.field, "reason": rejection.reason,
            ]
        }
        return object
    }

    private static func word(_ way: Way) -> String { way == .toGateway ? "toGateway" : "toPeer" }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes { text += [self.digits[Int(byte >> 4)], self.digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
