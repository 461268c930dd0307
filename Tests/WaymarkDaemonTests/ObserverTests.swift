import Testing
import WaymarkCodec
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkProtocol

/// Observers of a running daemon, over sockets.
@Suite(.timeLimit(.minutes(10))) struct ObserverTests {
    private static func observed(_ folder: Folder, _ visibility: Visibility) async throws -> Daemon {
        try await folder.daemon {
            var listener = Settings.Listener(address: "unix:\(folder.path("observe"))", roles: [.observer])
            listener.visibility = visibility
            $0.listeners.append(listener)
        }
    }

    private static func observer(_ daemon: Daemon) throws -> RawSocket {
        let hello = Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "watcher"))))
        let observer = try RawSocket(daemon.addresses[2])
        try observer.send(.hello(hello))
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        try observer.send(.observe(observe))
        return observer
    }

    /// Reads until the whole state was told.
    private static func readState(_ observer: RawSocket, _ state: inout ObservedGateway) throws {
        while !state.isComplete, let message = try observer.receive() {
            state.apply(message) { frame in
                do { return try Codec.outline(of: frame) } catch { return nil }
            }
        }
    }

    @Test func `an observer behind a socket is told who is connected and who connects`() async throws {
        let folder = try Folder()
        let daemon = try await Self.observed(folder, .content)
        let vehicle = try RawSocket.welcomed(daemon.addresses[0], vehicleHello)
        let observer = try Self.observer(daemon)
        guard case .welcome(let welcome)? = try observer.receive() else {
            Issue.record("not welcome")
            return
        }
        #expect(welcome.visibility == .content)
        var state = ObservedGateway()
        try Self.readState(observer, &state)
        #expect(state.vehicles.count == 1)
        #expect(state.vehicles.values.first?.endpoints.first?.connection != nil)
        try vehicle.send(.goodbye(Goodbye(.normal)))
        while !state.vehicles.isEmpty, let message = try observer.receive() {
            state.apply(message) { _ in nil }
        }
        #expect(state.vehicles.isEmpty)
        #expect(try vehicle.receive() == nil)
        await daemon.shutdown()
    }

    @Test func `an observer is refused where the role is not listed`() async throws {
        let folder = try Folder()
        let daemon = try await folder.daemon()
        let peer = try RawSocket(daemon.addresses[0])
        try peer.send(
            .hello(Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "watcher"))))))
        #expect(try peer.goodbye()?.code == .roleNotAllowed)
        await daemon.shutdown()
    }
}
