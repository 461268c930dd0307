#if ServiceLifecycle
    internal import Logging
    internal import ServiceLifecycle
    internal import UnixSignals
    internal import WaymarkClient

    /// Runs a navigation client until SIGTERM.
    public func runService() async throws {
        let logger = Logger(label: "app")
        var configuration = NavigationClient.Configuration(id: "example-app")
        configuration.logger = logger
        let client = try await NavigationClient.connect(configuration)
        let group = ServiceGroup(services: [client], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }
#endif
