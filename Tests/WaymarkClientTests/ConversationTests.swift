import Foundation
import Testing
import WaymarkCodec
import WaymarkConfiguration
import WaymarkProtocol

/// The frames that Docs/protocol.md shows, one after another.
struct Conversation {
    struct Step: Sendable, CustomTestStringConvertible {
        /// The message's name, as the page says it.
        let name: String
        /// "endpoint", "client" or "gateway"; a publication has all three.
        let way: [String]
        let bytes: [UInt8]

        var testDescription: String { "\(self.name), \(self.way.joined(separator: " → "))" }

        func envelope() throws -> Envelope {
            let header = try #require(
                try FrameHeader.read(from: self.bytes.span.bytes, frameBytesMax: 1_000))
            return try Codec.decode(Frame(header: header, bytes: self.bytes[...]))
        }
    }

    static let steps: [Step] = {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/protocol.md")
        guard let page = try? String(contentsOf: url, encoding: .utf8) else { return [] }
        return page.matches(of: /\*\*(\w+)\*\*, (.+):\n\n```hex\n([\s\S]*?)```/).map { match in
            let text = match.3.split(separator: "\n").compactMap { $0.split(separator: "#").first }
            let bytes = text.joined(separator: " ").split(separator: " ").compactMap { UInt8($0, radix: 16) }
            return Step(
                name: String(match.1), way: match.2.split(separator: " → ").map(String.init), bytes: bytes)
        }
    }()
}

/// A connection of which every byte is in the test's hands.
final class RawPeer {
    private let descriptor: Int32
    private var bytes: [UInt8] = []

    init(_ path: String) throws {
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(self.descriptor, $0, UInt32(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(self.descriptor) }

    func send(_ bytes: [UInt8]) throws {
        try #require(
            Glibc.send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// Waits for the next frame.
    func next() throws -> Envelope {
        while true {
            let bytes = self.bytes
            if let header = try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: 1_048_576),
                bytes.count >= header.frameByteCount
            {
                self.bytes.removeFirst(header.frameByteCount)
                return try Codec.decode(Frame(header: header, bytes: bytes.prefix(header.frameByteCount)))
            }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(self.descriptor, &buffer, buffer.count, 0)
            try #require(count > 0, "the gateway closed the connection")
            self.bytes += buffer.prefix(count)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ConversationTests {
    @Test func `the page shows the frames of a whole conversation`() {
        let names = Set(Conversation.steps.map(\.name))
        #expect(
            names.isSuperset(of: [
                "Hello", "Welcome", "OpenSession", "SessionOpened", "SnapshotBegin", "SnapshotEnd",
                "StartGuidance", "UpdateManeuverEstimates", "UpdateManeuverState", "Error", "WaypointRequest",
                "RequestAnswer", "Prompt", "PromptAnswer", "PromptOver", "RequestOutcome", "Ping", "Pong",
                "FinishGuidance", "SessionEnded", "Goodbye", "Acknowledgement",
            ]))
    }

    @Test(arguments: Conversation.steps)
    func `a frame on the page is what it is called, to the byte`(_ step: Conversation.Step) throws {
        let envelope = try step.envelope()
        #expect("\(envelope.message.type)".lowercased() == step.name.lowercased())
        #expect(Array(Codec.encode(envelope).bytes) == step.bytes)
    }

    @Test func `a daemon answers every frame on the page with those that follow it there`() async throws {
        let service = try await Service.start { $0.connection.keepalive = ConnectionLimits().keepalive }
        let peers = [
            "endpoint": try RawPeer("\(service.folder)/v"), "client": try RawPeer("\(service.folder)/n"),
        ]
        var session = SessionID.none
        for step in Conversation.steps {
            if let sender = peers[step.way[0]] {
                var bytes = step.bytes
                let isInSession = bytes[12..<16] != [0, 0, 0, 0]
                if isInSession {
                    for index in 0..<4 {
                        bytes[12 + index] = UInt8(truncatingIfNeeded: session.rawValue >> (24 - 8 * index))
                    }
                }
                try sender.send(bytes)
            }
            guard step.way.count > 1, let receiver = peers[step.way[step.way.count - 1]] else { continue }
            let expected = try step.envelope()
            var received = try receiver.next()
            // How much an Acknowledgement covers depends on the time.
            while received.message.type == .acknowledgement, received.message != expected.message {
                received = try receiver.next()
            }
            if case .sessionOpened(let opened) = received.message { session = opened.session }
            #expect(received.asOnThePage(expected, session) == expected, "\(step.testDescription)")
        }
        await service.stop()
    }
}

extension Envelope {
    /// The same envelope with the page's session id, token, software, instance and epoch in place of this daemon's.
    fileprivate func asOnThePage(_ page: Envelope, _ session: SessionID) -> Envelope {
        var envelope = self
        let onPage = SessionID(7)
        if session != .none, envelope.session == session { envelope.session = onPage }
        switch envelope.message {
        case .welcome(var welcome):
            guard case .welcome(let shown) = page.message else { break }
            welcome.resumptionToken = shown.resumptionToken
            welcome.software = shown.software
            welcome.gateway = shown.gateway
            envelope.message = .welcome(welcome)
        case .sessionOpened(var opened):
            if opened.session == session { opened.session = onPage }
            envelope.message = .sessionOpened(opened)
        case .sessionEnded(var ended):
            if ended.session == session { ended.session = onPage }
            envelope.message = .sessionEnded(ended)
        case .error(var error):
            if error.session == session { error.session = onPage }
            envelope.message = .error(error)
        default: break  // The others name no session in their bodies.
        }
        return envelope
    }
}
