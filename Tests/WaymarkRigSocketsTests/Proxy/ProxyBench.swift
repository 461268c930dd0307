import ListeningSockets
import Synchronization
import Testing
import WaymarkClient
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig
import WaymarkRigSockets
import WaymarkScenario

/// A proxy between sockets of a test, and what it told.
final class ProxyBench: Sendable {
    let ends = SocketEnds()
    let server: ProxyServer
    /// Where peers connect.
    let address: ServiceAddress
    private let log = EventLog()

    /// A proxy with faults, as in a file, in front of a gateway that reads, or does not.
    init(
        _ faults: [String] = [], listen: ListenAddress = .tcp(host: "127.0.0.1", port: 0),
        gateway: ListenAddress = .tcp(host: "127.0.0.1", port: 0), control: String? = nil, reads: Bool = true
    ) async throws {
        let target = try await self.ends.listen(gateway, reads: reads)
        self.server = ProxyServer([ProxyServer.Pair(listen, to: target)]) { [log] in log.add($0) }
        for fault in faults { try await self.server.begin(Self.fault(fault)) }
        self.address = try #require(try await self.server.open(control: control).first).service
    }

    static func fault(_ text: String) throws -> ProxyFault {
        let faults = try ScenarioReader.proxyFaults("faults: [\(text)]", file: "test.yaml").faults
        return try #require(faults.first)
    }

    /// The kinds of the faults that acted, in order.
    var faults: [String] {
        self.log.events.compactMap { if case .fault(let record) = $0 { record.kind } else { nil } }
    }

    var endings: [ProxyEnding] {
        self.log.events.compactMap { if case .ended(_, let ending) = $0 { ending } else { nil } }
    }

    /// What was done on the control socket.
    var requests: [String] {
        self.log.events.compactMap { if case .control(let text) = $0 { text } else { nil } }
    }

    /// Waits for an event.
    func until(_ holds: @escaping @Sendable (ProxyEvent) -> Bool) async { await self.log.until(holds) }

    func ended() async { await self.until { if case .ended = $0 { true } else { false } } }

    /// A peer connects and says Hello; returns its socket. The gateway's is the n-th from 1 001 on.
    func peer(_ hello: [UInt8] = Frames.client()) async -> Int {
        let socket = await self.ends.connect(to: self.address)
        await self.ends.send(hello, on: socket)
        return socket
    }

    func stop() async {
        await self.server.close()
        await self.ends.stop()
    }
}

/// The events of a proxy.
final class EventLog: Sendable {
    private struct State {
        var events: [ProxyEvent] = []
        var waiting:
            [(holds: @Sendable (ProxyEvent) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
                []
    }

    private let state = Mutex(State())

    var events: [ProxyEvent] { self.state.withLock { $0.events } }

    func add(_ event: ProxyEvent) {
        let ready = self.state.withLock { state in
            state.events.append(event)
            let ready = state.waiting.filter { $0.holds(event) }.map(\.continuation)
            state.waiting.removeAll { $0.holds(event) }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }

    func until(_ holds: @escaping @Sendable (ProxyEvent) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLock { state in
                if state.events.contains(where: holds) { return true }
                state.waiting.append((holds, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
