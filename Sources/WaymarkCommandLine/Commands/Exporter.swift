package import ArgumentParser
internal import ListeningSockets
internal import WaymarkClient
internal import WaymarkExporter
internal import WaymarkWeb

package struct Exporter: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Serve a gateway's counters to Prometheus.",
        usage: "waymark exporter [<options>]",
        discussion: """
            Observes a gateway, and answers GET /metrics until it is interrupted, only to this machine. Without the gateway \
            it says waymark_up 0, and finds it again by itself. Docs/monitoring.md explains every metric.
            """)

    @Option(
        help:
            "Where the gateway listens: tcp:HOST:PORT or unix:/path. Without it: this user's waymarkd, else the system's service."
    )
    var connect: String?
    @Option(
        help: "A file with the listener's pre-shared key; a line break at its end does not count.",
        completion: .file())
    var keyFile: String?
    @Option(
        help:
            "Where to serve: 127.0.0.1:PORT, [::1]:PORT or unix:/path. Port 0 is one that the system chooses."
    )
    var listen = "127.0.0.1:9727"

    package init() {}

    package func validate() throws {
        _ = try ConnectionOptions.address(self.connect, default: .defaultObserver)
        _ = try self.listenAddress()
    }

    private func listenAddress() throws -> LoopbackAddress {
        do throws(LoopbackAddressError) { return try LoopbackAddress(self.listen) } catch {
            throw ValidationError("--listen \(Terminal.printable(self.listen)): \(error)")
        }
    }

    package func run() async throws {
        #if Inspector
            let listen = try self.listenAddress()
            let address = try ConnectionOptions.address(self.connect, default: .defaultObserver)
            var configuration = Observer.Configuration(id: "waymark-exporter")
            configuration.credential = try ConnectionOptions.key(self.keyFile)
            let reader = CounterReader(of: address, configuration) { trouble in
                Terminal.note(trouble.map { "no counters: \($0)" } ?? "the gateway at \(address) answers")
            }
            let server: LoopbackServer
            do throws(ListenerError) {
                server = try await MetricsServer.open(listen, reader)
            } catch {
                throw CommandFailure("\(error)")
            }
            let ending = Ending.include { server.removeFileNow() }
            // An exporter ends only so: that is no failure.
            try await interruptible({ await server.close() }, harmless: [130, 143]) {
                Terminal.line("serving the counters of \(address) at \(MetricsServer.location(of: server))")
                // Prometheus may ask for the first time much later: a gateway that is not there is told at once.
                Task { _ = await reader.read() }
                await server.run()
            }
            Ending.leaveOut(ending)
            await reader.close()
        #else
            throw CommandFailure("this build has no HTTP server: it was built without the trait Inspector")
        #endif
    }
}
