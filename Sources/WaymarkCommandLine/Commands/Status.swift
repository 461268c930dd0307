package import ArgumentParser
internal import Foundation
internal import WaymarkClient

package struct Status: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Show who is connected to a gateway, which sessions there are, and what waits.",
        usage: "waymark status [<options>]",
        discussion: """
            The exit status is 0 if there is a gateway, 1 if there is none. It takes a second, because it counts frames; \
            with --interval 0 it takes no time and shows no rates.
            """)

    @OptionGroup var connection: ConnectionOptions
    @Option(help: "How many seconds to count frames for; 0: not at all.") var interval = 1.0
    @Flag(help: "Print one JSON object, see Docs/cluster-json.md.") var json = false

    package init() {}

    package func validate() throws {
        _ = try duration(seconds: self.interval, option: "--interval", allowsZero: true)
    }

    package func run() async throws {
        let address = try self.connection.address(default: .defaultObserver)
        var configuration = Observer.Configuration(id: "waymark-status")
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        configuration.includesEvents = false
        try await interruptible { [configuration] in
            let report = try await self.read(address, configuration)
            if self.json {
                Terminal.line(StatusJSON.line(report))
            } else {
                for line in StatusTable.lines(report, columns: Terminal.size.columns) { Terminal.line(line) }
            }
        }
    }

    private func read(
        _ address: ServiceAddress, _ configuration: Observer.Configuration
    ) async throws -> StatusReport {
        do throws(ClientError) {
            let observer = try await self.connection.waitingForGateway { () throws(ClientError) in
                try await Observer.connect(to: address, configuration)
            }
            let first = self.interval > 0 ? try await observer.counters(withMeasures: true) : nil
            if self.interval > 0 {
                do { try await Task.sleep(for: .seconds(self.interval)) } catch { throw .cancelled }
            }
            let counters = try await observer.counters(withMeasures: true)
            let report = StatusReport(
                address: address, snapshot: await observer.state, counters: counters, before: first)
            await observer.close()
            return report
        } catch {
            throw failure(error)
        }
    }
}
