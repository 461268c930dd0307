package import ArgumentParser
internal import WaymarkClient
internal import WaymarkModel

package struct Simulate: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Have a navigation client simulate its drives, or stop.",
        usage: "waymark simulate <action> --client <id> [<options>]",
        discussion: """
            It connects as an observer. The gateway's access rules must allow it (simulate), and the client must simulate \
            drives. The exit status is 0 if the client was asked, 1 if the gateway refused it.
            """)

    enum Action: String, Sendable, CaseIterable, ExpressibleByArgument { case start, stop }

    @Argument(help: "start or stop.") var action: Action
    @Option(help: "The client that is asked.") var client: String
    @Option(help: "The vehicle that the client guides and that it is about; without it all of them.")
    var vehicle: String?
    @Option(help: "How many times faster than real time, 0.01 to 1000.") var speed = 1.0
    @OptionGroup var connection: ConnectionOptions

    package init() {}

    package func validate() throws {
        guard (0.01...1_000).contains(self.speed) else {
            throw ValidationError("--speed must be 0.01 to 1000")
        }
    }

    package func run() async throws {
        let address = try self.connection.address(default: .defaultObserver)
        var configuration = Observer.Configuration(id: "waymark-simulate")
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        configuration.includesState = false
        configuration.includesEvents = false
        try await interruptible { [configuration] in
            do throws(ClientError) {
                let observer = try await self.connection.waitingForGateway { () throws(ClientError) in
                    try await Observer.connect(to: address, configuration)
                }
                try await observer.simulateDrive(
                    self.action == .start ? .start : .stop, of: self.client, vehicle: self.vehicle,
                    speedFactor: self.speed)
                await observer.close()
            } catch {
                throw failure(error)
            }
        }
    }
}
