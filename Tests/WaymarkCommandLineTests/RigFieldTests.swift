import Foundation
import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkProtocol

@testable import WaymarkCommandLine
@testable import WaymarkHistory
@testable import WaymarkScenario
@testable import WaymarkTexts

/// The fields that scenarios name are the keys that `--json` prints.
@Suite struct RigFieldTests {
    /// One vector of Protos/vectors.
    private struct Vector: Decodable {
        let name: String
        let message: String
        let hex: String?
        let valid: Bool
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Protos/vectors")

    /// The frames of all right vectors of messages that have content.
    private static func frames() throws -> [(String, CrossedFrame)] {
        let types = Dictionary(
            uniqueKeysWithValues: MessageType.allCases.map { ("\($0)".lowercased(), $0) })
        return try ["connection", "session", "vehicle"].flatMap { file in
            let text = try String(contentsOf: Self.folder.appending(path: "\(file).jsonl"), encoding: .utf8)
            return try text.split(separator: "\n").compactMap { line -> (String, CrossedFrame)? in
                let vector = try JSONDecoder().decode(Vector.self, from: Data(line.utf8))
                guard vector.valid, let type = types[vector.message.lowercased()], let hex = vector.hex else {
                    return nil
                }
                let digits = Array(hex.utf8)
                let body = stride(from: 0, to: digits.count, by: 2).map {
                    UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
                }
                let frame = Frame(header: FrameHeader(type: type.rawValue), body: body)
                let peer = PeerID.client(ClientID(unchecked: "client"))
                return (
                    vector.name,
                    CrossedFrame(frame, of: peer, .toPeer, sent: Instant(nanoseconds: 0))
                )
            }
        }
    }

    @Test func `messages have the keys and values of their lines`() throws {
        // No vector has a vehicle that left.
        let left = VehicleStatus(vehicle: VehicleID(unchecked: "v"), standing: .left(.userStopped))
        let change = CrossedFrame(
            Codec.encode(Envelope(.vehicleChanged(left), session: SessionID(1))),
            of: .client(ClientID(unchecked: "client")), .toPeer, sent: Instant(nanoseconds: 0))
        // And none has the flags of a state.
        let tyres = PublishedExtension(
            name: ExtensionName(unchecked: "org.example.tyres"), content: [7], key: 9)
        let state = CrossedFrame(
            Codec.encode(
                Envelope(.publication(.publishExtension(tyres)), session: SessionID(1), sequence: 1)),
            of: .client(ClientID(unchecked: "client")), .toPeer, sent: Instant(nanoseconds: 0))
        let frames = try Self.frames() + [("a vehicle that left", change), ("a state", state)]
        #expect(frames.count > 500)
        var unseen = Set(
            MessageType.allCases.flatMap { type in
                Self.content(of: type).map { "\(type).\($0.name)" }
            })
        for (name, frame) in frames {
            guard let message = frame.message else { continue }
            let fields = Tree(Self.content(of: message.type), frame)
            let line = JSON.line(MessageJSON.content(message))
            #expect(fields.pruned == (try Tree(line)).pruned, "\(name)")
            if case .object(let object) = fields {
                for key in object.keys { unseen.remove("\(message.type).\(key)") }
            }
        }
        // Every key occurs in some vector.
        #expect(unseen.isEmpty)
    }

    /// The keys of a message, without those of its header.
    private static func content(of type: MessageType) -> ArraySlice<FieldKey<CrossedFrame>> {
        let keys = MessageFields.keys(of: type)
        return keys.dropFirst(MessageFields.keys(of: nil).count)
    }

    @Test func `the state has the keys and values of its line`() throws {
        let state = CommandTests.fullState
        let moment = EndpointHistory.Moment(
            index: 0, state: state, isConnected: true, isResumed: false, isComplete: true, missed: 0)
        let line = try Tree(ClusterJSON.state(state, at: Date(timeIntervalSince1970: 0)))
        guard case .object(var expected) = line else { return #expect(Bool(false), "\(line)") }
        expected["kind"] = nil
        expected["time"] = nil
        let fields = Tree(StateFields.held[...], moment)
        #expect(fields.pruned == Tree.object(expected).pruned)
        #expect(Set(expected.keys).isSubset(of: StateFields.held.map(\.name)))
    }
}

/// Values as JSON has them.
private indirect enum Tree: Decodable, Equatable {
    case null, flag(Bool), number(Double), text(String), list([Tree]), object([String: Tree])

    init(_ line: String) throws { self = try JSONDecoder().decode(Tree.self, from: Data(line.utf8)) }

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
        } else if let list = try? container.decode([Tree].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }

    init<Root>(_ keys: ArraySlice<FieldKey<Root>>, _ root: Root) {
        self = .object(
            keys.reduce(into: [:]) { object, key in object[key.name] = key.read(root).map { Tree($0) } })
    }

    private init(_ value: FieldValue) {
        switch value {
        case .text(let text): self = .text(text)
        case .number(let number): self = .number(number)
        case .flag(let flag): self = .flag(flag)
        case .word(let raw, let vocabulary): self = .text(vocabulary.name(of: raw))
        case .list(let list): self = .list((0..<list.count).map { Tree(list[field: $0]) })
        case .object(let object): self = Self.fields(of: object)
        }
    }

    private static func fields<Object: FieldObject>(of object: Object) -> Tree {
        Tree(Object.fields[...], object)
    }

    /// Without what the lines leave out: empty lists, objects and texts, and `false`. nil: nothing is left.
    var pruned: Tree? {
        switch self {
        case .null, .flag(false), .text(""): return nil
        case .list(let list): return list.isEmpty ? nil : .list(list.map { $0.pruned ?? .null })
        case .object(let object):
            let kept = object.compactMapValues(\.pruned)
            return kept.isEmpty ? nil : .object(kept)
        case .flag, .number, .text: return self
        }
    }
}
