#if ServiceLifecycle
    import FakeGateway
    import Logging
    import ServiceLifecycle
    import Testing
    import WaymarkProtocol

    @testable import WaymarkClient

    /// Runs only with the trait `ServiceLifecycle`.
    @Suite(.timeLimit(.minutes(10))) struct ServiceTests {
        @Test func `graceful shutdown closes a client`() async throws {
            let gateway = try await FakeGateway.start()
            let (client, peer) = try await gateway.client()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let group = ServiceGroup(services: [client], logger: logger)
            let running = Task { try await group.run() }
            await group.triggerGracefulShutdown()
            _ = await peer.next { $0.message.type == .goodbye ? true : nil }
            await peer.close()
            try await running.value
            await gateway.close()
        }
    }
#endif
