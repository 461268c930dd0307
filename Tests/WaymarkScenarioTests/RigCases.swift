import Foundation
import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkHistory
import WaymarkProtocol

/// The files of Tests/RigCases.
enum RigCases {
    /// The cases history -> verdict.
    static func words() throws -> [WordCase] { try self.read("words.json", as: WordCase.self) }

    static func read<Case: Decodable>(_ file: String, as type: Case.Type) throws -> [Case] {
        let url = ScenarioTests.root.appending(path: "Tests/RigCases/\(file)")
        return try JSONDecoder().decode([Case].self, from: Data(contentsOf: url))
    }
}

/// Any JSON value.
indirect enum JSONValue: Decodable, Encodable {
    case null, flag(Bool), number(Double), text(String), list([JSONValue]), object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number):
            if let whole = Int(exactly: number) {
                try container.encode(whole)
            } else {
                try container.encode(number)
            }
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }

    /// As a YAML reader takes it: JSON is YAML.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

/// One case history -> verdict.
struct WordCase: Decodable, CustomTestStringConvertible, Sendable {
    struct Entry: Decodable, Sendable {
        let at: Double
        let peer: String?
        let way: String?
        let hex: String?
        let delivery: String?
        let connection: String?
        let step: Int?
    }

    let name: String
    let frames: [Entry]
    let end: Double
    let scenario: String
    let verdict: String
    let at: Double
    /// Expected and seen, by path.
    let nearest: [String: [String]]?
    let margin: Double?
    let heldAlready: Bool

    private enum Key: String, CodingKey {
        case name, frames, end, expect, steps, ended, verdict, at, nearest, margin, heldAlready
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.name = try values.decode(String.self, forKey: .name)
        self.frames = try values.decode([Entry].self, forKey: .frames)
        self.end = try values.decode(Double.self, forKey: .end)
        self.verdict = try values.decode(String.self, forKey: .verdict)
        self.at = try values.decode(Double.self, forKey: .at)
        self.nearest = try values.decodeIfPresent([String: [String]].self, forKey: .nearest)
        self.margin = try values.decodeIfPresent(Double.self, forKey: .margin)
        self.heldAlready = try values.decodeIfPresent(Bool.self, forKey: .heldAlready) ?? false
        var document: [String: JSONValue] = ["route": .text("vaduz-balzers")]
        for key in [Key.expect, .steps, .ended] {
            document[key.rawValue] = try values.decodeIfPresent(JSONValue.self, forKey: key)
        }
        self.scenario = try JSONValue.object(document).text
    }

    var testDescription: String { self.name }

    static func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64((seconds * 1e9).rounded()))
    }

    static let cluster = PeerID.endpoint(VehicleID(unchecked: "dut"), EndpointName(unchecked: "cluster"))

    /// What happened, in order.
    func happenings() throws -> [(History.Kind, Instant)] {
        var before = 0.0
        return try self.frames.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map { _, entry in
                before = max(before, entry.at)
                return (try Self.kind(entry), Self.instant(before))
            }
    }

    private static func kind(_ entry: Entry) throws -> History.Kind {
        if let step = entry.step { return .step(step, "step") }
        let peer = entry.peer == "client" ? PeerID.client(ClientID(unchecked: "client")) : self.cluster
        switch entry.connection {
        case "admitted": return .connection(peer, .admitted(resumed: false))
        case "resumed": return .connection(peer, .admitted(resumed: true))
        case "ended": return .connection(peer, .ended(nil))
        default: break
        }
        let hex = Array((entry.hex ?? "").utf8)
        let bytes = stride(from: 0, to: hex.count, by: 2).map {
            UInt8(String(decoding: hex[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
        }
        var splitter = FrameSplitter(frameBytesMax: 1 << 20)
        splitter.append(bytes)
        guard let frame = try splitter.next() else { throw CocoaError(.coderReadCorrupt) }
        return .frame(
            CrossedFrame(
                frame, of: peer, entry.way == "to" ? .toPeer : .toGateway, sent: self.instant(entry.at),
                delivery: entry.delivery == "dropped" ? .dropped : .whole))
    }

    /// The limits of the endpoint's Hello.
    func storage() throws -> VehicleLimits {
        for case (.frame(let frame), _) in try self.happenings() {
            if case .hello(let hello)? = frame.message, case .vehicle(let vehicle) = hello.role {
                return vehicle.limits
            }
        }
        return VehicleLimits()
    }
}
