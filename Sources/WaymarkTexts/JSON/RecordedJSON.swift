package import Foundation
package import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
package import WaymarkRecording

/// Entries of a recording as JSON. Docs/cluster-json.md has every key.
package enum RecordedJSON {
    /// The line that `waymark watch --json` printed.
    package static func line(_ entry: RecordedEntry, _ state: RecordedState) -> String {
        switch entry.content {
        case .frame(let frame):
            ObservedJSON.line(
                self.update(entry, frame, state),
                frame.delivery == .whole ? [:] : ["delivery": frame.delivery.rawValue])
        case .broken(let bytes, let direction, let peer):
            JSON.line(
                [
                    "kind": "broken", "peer": peer, "way": direction == .in ? "toGateway" : "toPeer",
                    "hex": bytes.map { byte in
                        let digits = String(byte, radix: 16)
                        return digits.count == 1 ? "0" + digits : digits
                    }.joined(), "number": Int(entry.number),
                ], at: entry.time.date)
        case .event(let text): text
        case .state: ""
        }
    }

    // MARK: Updates

    /// What an observer would have been told.
    package static func update(
        _ entry: RecordedEntry, _ frame: RecordedFrame, _ state: RecordedState
    ) -> GatewayUpdate {
        let way: ObservedFrame.Way =
            frame.direction == .in ? .from(frame.peers.first ?? "") : .to(frame.peers)
        let observed = ObservedFrame.recorded(
            frame.frame, way, to: state.peers.vehicles(of: frame.frame.header.session),
            isRedacted: frame.isRedacted, isRejected: frame.isRejected)
        return .recorded(.frame(observed), number: UInt64(entry.number), at: entry.time.date)
    }

    /// The members of a JSON object; nil for other text.
    package static func object(_ text: String) -> [String: Any]? {
        do {
            return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        } catch { return nil }
    }

    /// The event in a line of `waymark watch --json`.
    package static func event(_ object: [String: Any]) -> GatewayEvent {
        func text(_ key: String) -> String { object[key] as? String ?? "" }
        func number(_ key: String) -> UInt32 { UInt32(clamping: object[key] as? Int ?? 0) }
        let name = text("event")
        // An event that no build before this one knew has no number.
        var event = ObservedEvent(.admitted)
        event.kind = ObservedKind.allCases.first { "\($0)" == name }?.rawValue ?? 0
        event.code = number("code")
        event.session = SessionID(number("session"))
        event.reason = text("reason")
        event.request = Identifier(text("requestID"))
        event.client = ClientID(text("client"))
        event.vehicles = (object["vehicles"] as? [String] ?? []).compactMap { VehicleID($0) }
        return .recorded(event, peer: text("peer"))
    }
}

extension RecordingTime {
    /// 1970 and 2554 for dates before and after.
    package init(_ date: Date) {
        let nanoseconds = max(0, date.timeIntervalSince1970 * 1e9)
        self.init(nanoseconds: nanoseconds < 0x1p64 ? UInt64(nanoseconds) : .max)
    }

    package var date: Date { Date(timeIntervalSince1970: Double(self.nanoseconds) / 1e9) }
}
