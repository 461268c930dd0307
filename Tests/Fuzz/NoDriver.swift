// The driver of peers that FuzzClient builds in place of Sources/WaymarkClient/Connection/ChannelDriver.swift and ConnectFailure.swift: it
// never connects, and needs no SwiftNIO.
import Logging
import WaymarkProtocol

/// An actor whose machines decide and whose driver does nothing.
protocol PeerDriver: Actor {
    associatedtype Machine: PeerMachine
    var link: LinkMachine<Machine> { get set }
    var driver: ChannelDriver { get set }
    func perform(_ output: Machine.Output)
    func connectionChanged(to state: ConnectionState)
    func finishFrame() async
}

extension PeerDriver {
    func finishFrame() async {}
    func open() async throws(ClientError) {}
    func closeLink() async {}

    func use<Value, Failure>(
        _ body: (inout Machine, inout [Machine.Output]) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var actions: [LinkAction<Machine.Output>] = []
        return try self.link.use(at: Instant(nanoseconds: 0), into: &actions, body)
    }
}

struct ChannelDriver: Sendable {
    let origin = ContinuousClock.now

    init(_ address: ServiceAddress, _ logger: Logger, _ labels: KeyValuePairs<String, String> = [:]) {}

    var now: Instant { Instant(nanoseconds: 0) }

    func log(_ note: PeerNote) {}
    func cut() {}
    func openFeed(with state: ConnectionState) -> Feed<ConnectionState> {
        var readers = Readers<ConnectionState>()
        return readers.open(with: [state])
    }
}

enum ConnectFailure {
    static func reason(isForeign: Bool, saying bytes: [UInt8]) -> String { "" }
}
