import Foundation
import ListeningSockets
import Testing
import WaymarkClient
import WaymarkFaults
import WaymarkProtocol
import WaymarkRig
import WaymarkRigSockets
import WaymarkTexts

/// Connections of a proxy, and its control socket.
@Suite(.timeLimit(.minutes(5))) struct ProxyServerTests {
    private static let hello = Frames.client()
    private static let roads = (1...5).map { Frames.road(UInt64($0)) }
    private static let gateway = 1_001

    // MARK: Connections

    @Test func `twice, then never, over the connections of one peer`() async throws {
        let bench = try await ProxyBench([
            "{ link: app, kind: cut, times: 2, after: { message: currentRoadName } }"
        ])
        for _ in 1...2 {
            let peer = await bench.peer()
            await bench.ends.send(Self.roads[0], on: peer)
            #expect(await bench.ends.until(peer) { $0.closed != nil }.wasReset)
        }
        let peer = await bench.peer()
        await bench.ends.send(Self.roads[0], on: peer)
        let sent = Self.hello + Self.roads[0]
        #expect(await bench.ends.bytes(sent.count, on: Self.gateway + 2) == sent)
        #expect(bench.faults == ["cut", "cut"])
        await bench.stop()
    }

    @Test func `a fault of one peer does not touch the others`() async throws {
        let bench = try await ProxyBench(["{ link: dut, kind: drop }"])
        let hellos = [Frames.client("a"), Frames.endpoint("dut", "one"), Frames.endpoint("other", "two")]
        for (index, hello) in hellos.enumerated() {
            let peer = await bench.peer(hello)
            await bench.until {
                if case .connected(let connection) = $0 { connection.number == index + 1 } else { false }
            }
            await bench.ends.send(Self.roads[0], on: peer)
        }
        for index in [0, 2] {
            let sent = hellos[index] + Self.roads[0]
            #expect(await bench.ends.bytes(sent.count, on: Self.gateway + index) == sent)
        }
        #expect(Set(bench.faults) == ["drop"])
        #expect(await bench.ends.state(Self.gateway + 1).bytes.isEmpty)
        await bench.stop()
    }

    @Test func `what another peer says can begin a fault`() async throws {
        let bench = try await ProxyBench([
            "{ link: dut/cluster, kind: cut, after: { of: app, message: currentRoadName, count: 2 } }"
        ])
        let vehicle = await bench.peer(Frames.endpoint())
        await bench.ends.bytes(Frames.endpoint().count, on: Self.gateway)
        let client = await bench.peer()
        await bench.ends.send(Self.roads[0], on: client)
        await bench.ends.bytes(Self.hello.count + Self.roads[0].count, on: Self.gateway + 1)
        #expect(await bench.ends.state(vehicle).closed == nil)
        await bench.ends.send(Self.roads[1], on: client)
        #expect(await bench.ends.until(vehicle) { $0.closed != nil }.wasReset)
        #expect(await bench.ends.state(client).closed == nil)
        await bench.stop()
    }

    @Test func `bytes that are no frames pass, and only the faults of all peers concern them`() async throws {
        let bench = try await ProxyBench(["{ link: app, kind: drop }"])
        let text = Array("GET / HTTP/1.1\r\nHost: there\r\n\r\n".utf8)
        _ = await bench.peer(text)
        #expect(await bench.ends.bytes(text.count, on: Self.gateway) == text)
        await bench.until {
            if case .connected(let connection) = $0 { connection.peer == nil } else { false }
        }
        await bench.stop()
    }

    @Test func `a gateway that is away is a reset, and a line that says why`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let log = EventLog()
        let ends = SocketEnds()
        let server = ProxyServer([
            ProxyServer.Pair(.tcp(host: "127.0.0.1", port: 0), to: .unix(path: folder.file("nothing")))
        ]) { log.add($0) }
        let address = try #require(try await server.open().first).service
        let peer = await ends.connect(to: address)
        #expect(await ends.until(peer) { $0.closed != nil }.wasReset)
        await log.until {
            guard case .ended(_, .noGateway(let reason)) = $0 else { return false }
            return reason.contains("no such file")
        }
        await server.close()
        await ends.stop()
    }

    @Test func `a receiver that reads nothing makes the sender wait`() async throws {
        // Unix sockets, because the buffers of TCP grow.
        let folder = try RunFolder()
        defer { folder.remove() }
        let bench = try await ProxyBench(
            listen: .unix(path: folder.file("p")), gateway: .unix(path: folder.file("g")), reads: false)
        let peer = await bench.peer()
        let blocks = (1...60).map { Frames.road(UInt64($0), text: String(repeating: "x", count: 60_000)) }
        for block in blocks { await bench.ends.send(block, on: peer) }
        await bench.ends.until(peer) { $0.isFull }
        await bench.ends.setReading(Self.gateway, true)
        let sent = Self.hello + blocks.flatMap(\.self)
        #expect(await bench.ends.bytes(sent.count, on: Self.gateway) == sent)
        await bench.stop()
    }

    @Test func `what a peer sent before it closed arrives, although a fault delays it`() async throws {
        let bench = try await ProxyBench(["{ link: app, kind: delay, by: 50ms }"])
        let peer = await bench.peer()
        await bench.ends.send(Self.roads.flatMap(\.self), on: peer)
        await bench.ends.close(peer)
        let seen = await bench.ends.until(Self.gateway) { $0.hasEnded || $0.closed != nil }
        #expect(seen.bytes == Self.hello + Self.roads.flatMap(\.self))
        await bench.stop()
    }

    @Test func `several pairs carry to gateways of their own`() async throws {
        let (first, second) = (SocketEnds(), SocketEnds())
        let targets = [try await first.listen(), try await second.listen()]
        let server = ProxyServer(
            targets.map { ProxyServer.Pair(.tcp(host: "127.0.0.1", port: 0), to: $0) })
        let addresses = try await server.open()
        let ends = SocketEnds()
        for (index, address) in addresses.enumerated() {
            let peer = await ends.connect(to: address.service)
            await ends.send(Frames.client("app-\(index)"), on: peer)
        }
        #expect(await first.bytes(1, on: Self.gateway) == Frames.client("app-0"))
        #expect(await second.bytes(1, on: Self.gateway) == Frames.client("app-1"))
        await server.close()
        for socket in [first, second, ends] { await socket.stop() }
    }

    // MARK: The control socket

    private static func control(_ bench: ProxyBench, _ folder: RunFolder) async -> Int {
        await bench.ends.connect(to: .unix(path: folder.file("control")))
    }

    /// Sends a line, and waits for the answer.
    private static func ask(
        _ line: String, _ bench: ProxyBench, _ socket: Int, answers: Int
    ) async throws -> [String: Any] {
        await bench.ends.send(Array("\(line)\n".utf8), on: socket)
        let seen = await bench.ends.until(socket) {
            $0.bytes.count(where: { $0 == UInt8(ascii: "\n") }) >= answers
        }
        let lines = seen.bytes.split(separator: UInt8(ascii: "\n"))
        return try #require(
            try JSONSerialization.jsonObject(with: Data(lines[answers - 1])) as? [String: Any])
    }

    @Test func `the control socket begins, lists and clears faults`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let bench = try await ProxyBench(control: folder.file("control"))
        let peer = await bench.peer()
        await bench.ends.bytes(Self.hello.count, on: Self.gateway)
        let control = await Self.control(bench, folder)
        let begun = try await Self.ask(
            #"{"fault": {"name": "gone", "link": "app", "kind": "drop"}}"#, bench, control, answers: 1)
        #expect(begun["name"] as? String == "gone")
        let listed = try await Self.ask(#"{"list": true}"#, bench, control, answers: 2)
        #expect(
            listed["faults"] as? [[String: String]]
                == [["name": "gone", "fault": "drop app", "stage": "acting"]])
        let connections = try #require(listed["connections"] as? [[String: Any]])
        #expect(connections.map { $0["peer"] as? String } == ["app"])
        #expect(connections.first?["bytesToGateway"] as? Int == Self.hello.count)
        await bench.ends.send(Self.roads[0], on: peer)
        await bench.until { if case .fault = $0 { true } else { false } }
        let cleared = try await Self.ask(#"{"clear": "gone"}"#, bench, control, answers: 3)
        #expect(cleared["ok"] as? Bool == true)
        await bench.ends.send(Self.roads[1], on: peer)
        let sent = Self.hello + Self.roads[1]
        #expect(await bench.ends.bytes(sent.count, on: Self.gateway) == sent)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("control"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(
            bench.requests == [
                "fault gone is declared", "faults and connections are listed", "fault gone is cleared",
            ])
        await bench.stop()
        #expect(!FileManager.default.fileExists(atPath: folder.file("control")))
    }

    @Test func `errors on the control socket name the field and its column`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let bench = try await ProxyBench(control: folder.file("control"))
        let control = await Self.control(bench, folder)
        let cases = [
            (
                #"{"fault": {"link": "app", "knid": "drop"}}"#,
                "column 27: unknown key knid in fault; did you mean kind?"
            ),
            (#"{"fault": {"link": "app", "kind": "delay"}}"#, "delay needs by"),
            (#"{"clear": "nothing"}"#, "clear: there is no fault nothing"),
            (#"{"list": 1}"#, "list must be true"),
            (#"{fault: {}}"#, "a request is a JSON object"),
            (#"{}"#, "a request needs one of fault, clear, list"),
            (#"{"fault": {"gateway": "kill"}}"#, "a proxy can do nothing to the gateway's process"),
        ]
        for (index, (line, reason)) in cases.enumerated() {
            let answer = try await Self.ask(line, bench, control, answers: index + 1)
            let error = answer["error"] as? String ?? ""
            #expect(error.contains(reason), "\(line): \(error)")
        }
        await bench.stop()
    }

    @Test func `lines, clients and faults of the control socket are bounded`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let bench = try await ProxyBench(control: folder.file("control"))
        let control = await Self.control(bench, folder)
        for number in 1...ProxyLinks.faultsMax {
            let answer = try await Self.ask(
                #"{"fault": {"link": "x\#(number)", "kind": "drop"}}"#, bench, control, answers: number)
            #expect(answer["name"] as? String == "fault-\(number)")
        }
        let full = try await Self.ask(
            #"{"fault": {"link": "y", "kind": "drop"}}"#, bench, control, answers: ProxyLinks.faultsMax + 1)
        #expect((full["error"] as? String)?.contains("there are 64 faults") == true)
        await bench.ends.send([UInt8](repeating: UInt8(ascii: " "), count: 70_000), on: control)
        let seen = await bench.ends.until(control) { $0.hasEnded || $0.closed != nil }
        #expect(String(decoding: seen.bytes, as: UTF8.self).contains("a request has at most 65536 bytes"))
        var others: [Int] = []
        for _ in 1...20 { others.append(await Self.control(bench, folder)) }
        let refused = await bench.ends.until(others[19]) { $0.hasEnded || $0.closed != nil }
        #expect(String(decoding: refused.bytes, as: UTF8.self).contains("there are 16 clients already"))
        await bench.stop()
    }

    /// A socket that is bound, and whose process has gone.
    private static func leaveSocketFile(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafeBytes(of: address) {
            bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        try #require(result == 0)
        close(descriptor)
    }

    @Test func `a socket file that an ended proxy left is replaced, and one in use is an error`() async throws
    {
        let folder = try RunFolder()
        defer { folder.remove() }
        let path = folder.file("control")
        let bench = try await ProxyBench(control: path)
        let other = ProxyServer([])
        await #expect(throws: ListenerError.inUse(.unix(path: path))) { try await other.open(control: path) }
        #expect(FileManager.default.fileExists(atPath: path))
        await bench.stop()
        try Self.leaveSocketFile(at: path)
        let again = try await ProxyBench(control: path)
        let control = await Self.control(again, folder)
        #expect(try await Self.ask(#"{"list": true}"#, again, control, answers: 1)["ok"] as? Bool == true)
        await again.stop()
    }
}
