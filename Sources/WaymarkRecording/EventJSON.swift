internal import ProcessIO
internal import WaymarkProtocol

/// What happened, as one JSON object without a line break: the lines of `waymark watch --json`, see Docs/cluster-json.md.
enum EventJSON {
    static func text(_ event: ObservedEvent, peer: String, at time: RecordingTime) -> String {
        let kind = ObservedKind(rawValue: event.kind)
        var object = JSONObject(time)
        object["kind"] = .text("event")
        object["event"] = .text(kind.map { "\($0)" } ?? "unknown")
        object["vehicles"] = .texts(event.vehicles.map(\.rawValue))
        object["session"] = .number(UInt64(event.session.rawValue))
        object["code"] = .number(UInt64(event.code))
        object["number"] = .number(event.number)
        object.set(nonEmpty: "codeName", event.codeName)
        object.set(nonEmpty: "client", event.client?.rawValue ?? "")
        object.set(nonEmpty: "peer", peer)
        object.set(nonEmpty: "requestID", event.request.rawValue)
        object.set(nonEmpty: "reason", event.reason)
        return object.text
    }

    /// The gateway dropped entries, because the recorder read too slowly.
    static func dropped(_ count: UInt64, number: UInt64, at time: RecordingTime) -> String {
        var object = JSONObject(time)
        (object["kind"], object["count"]) = (.text("dropped"), .number(count))
        object["number"] = .number(number)
        return object.text
    }

    /// The whole state was told, and is recorded.
    static func synchronized(instance: String, number: UInt64, at time: RecordingTime) -> String {
        var object = JSONObject(time)
        (object["kind"], object["instance"]) = (.text("synchronized"), .text(instance))
        object["number"] = .number(number)
        return object.text
    }

    /// The recorder's connection was lost; or is back, and nothing is missing if it resumed.
    static func connection(_ state: String, resumed: Bool? = nil, at time: RecordingTime) -> String {
        var object = JSONObject(time)
        (object["kind"], object["state"]) = (.text("connection"), .text(state))
        if let resumed { object["resumed"] = .boolean(resumed) }
        return object.text
    }
}

/// A flat JSON object; its keys are sorted, so that equal objects are equal texts.
package struct JSONObject {
    package enum Value {
        case text(String), texts([String]), number(UInt64), boolean(Bool)
    }

    private var values: [String: Value] = [:]

    package init() {}

    /// An object with `time`.
    package init(_ time: RecordingTime) { self.values = ["time": .text("\(time)")] }

    package subscript(key: String) -> Value? {
        get { self.values[key] }
        set { self.values[key] = newValue }
    }

    package mutating func set(nonEmpty key: String, _ text: String) {
        if !text.isEmpty { self.values[key] = .text(text) }
    }

    package var text: String {
        let members = self.values.sorted { $0.key < $1.key }.map { key, value in
            let text =
                switch value {
                case .text(let text): Self.quoted(text)
                case .texts(let texts): "[\(texts.map(Self.quoted).joined(separator: ","))]"
                case .number(let number): "\(number)"
                case .boolean(let boolean): "\(boolean)"
                }
            return "\(Self.quoted(key)):\(text)"
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// What would steer a terminal is escaped, too.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{8}": quoted += "\\b"
            case "\u{C}": quoted += "\\f"
            case _ where TerminalText.isControl(scalar):
                for unit in UTF16.encode(scalar) ?? .init() {
                    quoted += "\\u" + String(0x1_0000 | Int(unit), radix: 16).dropFirst()
                }
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
