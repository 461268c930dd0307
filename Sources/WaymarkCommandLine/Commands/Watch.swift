package import ArgumentParser
internal import Foundation
internal import Synchronization
internal import WaymarkClient
internal import WaymarkProtocol

package struct Watch: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Watch a gateway: what happens, and what crosses.",
        usage: "waymark watch [<options>]",
        discussion: """
            Prints a line for each event and each message, with its time, until it is interrupted; never answers or \
            changes anything. `app > car` is a message of the client app to its vehicle car, `> car/cluster` one of the \
            gateway. What another line says already is left out, see --all. With --json it prints everything, one \
            object per line, see Docs/cluster-json.md.

            Each list restricts what is printed: to what concerns one of its vehicles, clients or sessions.
            """)

    /// `--kind` takes events by their names, and this.
    static let frameKind = "frame"
    static let kinds =
        GatewayEvent.Kind.allCases.filter { $0 != .unknown }.map(\.rawValue).sorted() + [Self.frameKind]

    @OptionGroup var connection: ConnectionOptions
    @Option(help: "Only what concerns this vehicle; may be given several times.") var vehicle: [String] = []
    @Option(help: "Only what concerns this client; may be given several times.") var client: [String] = []
    @Option(help: "Only what concerns this session; may be given several times.") var session: [UInt32] = []
    @Option(
        help: ArgumentHelp(
            "Only events of this kind, or `frame` for the messages; may be given several times.",
            discussion: "Kinds: \(Self.kinds.joined(separator: ", "))."),
        completion: .list(Self.kinds))
    var kind: [String] = []
    @Option(
        help: ArgumentHelp(
            "Only these messages, e.g. TripEstimates, and of events only those of --kind; may be given several times.",
            valueName: "message"),
        completion: .list(WatchedMessages.allNames))
    var message: [String] = []
    @Option(
        help: ArgumentHelp(
            "Leave out these messages or kinds of events, e.g. ManeuverEstimates; may be given several times.",
            valueName: "message"),
        completion: .list(WatchedMessages.allNames))
    var without: [String] = []
    @Flag(help: "Also print what another line says already, e.g. publications on their way to vehicles.")
    var all = false
    @Flag(help: "Print one JSON object per line.") var json = false

    package init() {}

    package func validate() throws {
        for kind in self.kind where !Self.kinds.contains(kind) {
            throw ValidationError("--kind \(kind) is not one of \(Self.kinds.joined(separator: ", "))")
        }
        _ = try self.messages()
        if self.session.contains(0) { throw ValidationError("--session 0: sessions are numbered from 1") }
    }

    package func run() async throws {
        let address = try self.connection.address(default: .defaultObserver)
        let printer = WatchPrinter(try self.options(), isJSON: self.json)
        var configuration = try self.configuration()
        configuration.onEveryUpdate = { printer.print($0) }
        configuration.onEveryConnectionState = { printer.print($0) }
        // Watching ends only so: that is no failure.
        try await interruptible(harmless: [130]) { [configuration] in
            try await self.watch(address, configuration, printer)
        }
    }

    private func messages() throws -> WatchedMessages {
        do throws(WatchedMessages.UnknownName) {
            return try WatchedMessages(only: self.message, without: self.without)
        } catch {
            throw ValidationError(error.text)
        }
    }

    private func options() throws -> WatchReport.Options {
        var options = WatchReport.Options()
        options.messages = try self.messages()
        options.isEverythingShown = self.all
        options.isRestricted = !self.kind.isEmpty
        options.columns = Terminal.isInteractive ? Terminal.size.columns : nil
        return options
    }

    private func configuration() throws -> Observer.Configuration {
        var configuration = Observer.Configuration(id: "waymark-watch")
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        (configuration.vehicles, configuration.clients) = (self.vehicle, self.client)
        configuration.sessions = self.session
        configuration.kinds = Set(self.kind.compactMap(GatewayEvent.Kind.init))
        // Naming messages asks for these alone, as naming kinds of events does.
        let isRestricted = !self.kind.isEmpty || !self.message.isEmpty
        configuration.includesFrames =
            !isRestricted || self.kind.contains(Self.frameKind) || !self.message.isEmpty
        configuration.includesEvents = !isRestricted || !configuration.kinds.isEmpty
        return configuration
    }

    private func watch(
        _ address: ServiceAddress, _ configuration: Observer.Configuration, _ printer: WatchPrinter
    ) async throws {
        let observer: Observer
        do throws(ClientError) {
            observer = try await self.connection.waitingForGateway { () throws(ClientError) in
                try await Observer.connect(to: address, configuration)
            }
        } catch {
            if [.closed, .cancelled].contains(error) { return }
            printer.fail(error)
            throw failure(error)
        }
        for await state in await observer.connectionStates {
            guard case .closed(let error) = state, error != .closed else { continue }
            throw CommandFailure("\(error)")
        }
        await observer.close()
    }
}
