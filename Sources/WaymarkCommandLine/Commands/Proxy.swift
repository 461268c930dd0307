package import ArgumentParser
internal import Foundation
internal import ListeningSockets
internal import ProcessIO
internal import WaymarkClient
internal import WaymarkDaemon
internal import WaymarkRig
internal import WaymarkRigSockets
internal import WaymarkScenario
internal import WaymarkTexts

package struct Proxy: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Disturb the connections between peers and a gateway, on purpose.",
        usage: "waymark proxy --listen ADDRESS --to ADDRESS [<options>]",
        discussion: """
            Carries connections to a gateway until it is interrupted, and does to them what faults say: delay, cut, drop, \
            corrupt, or one of ten other kinds, at a message, a byte, or at random. It prints a line for each connection, \
            fault and end. Docs/proxy.md explains every kind.
            """)

    /// Lines that wait for a slow terminal. More are left out.
    private static let linesMax = 10_000

    @Option(
        help:
            "Where peers connect, with a --to for each; may be given several times. Port 0 is one that the system chooses."
    )
    var listen: [String] = []
    @Option(help: "The gateway to which their connections are carried; may be given several times.")
    var to: [String] = []
    @Option(
        help: "A file with faults, which are in effect before the first connection.",
        completion: .file(extensions: ["yaml"]))
    var faults: String?
    @Option(
        help: "A Unix socket on which faults are begun and ended by lines of JSON.",
        completion: .file())
    var control: String?
    @Option(help: "Decides what is random, in place of the file's seed.") var seed: UInt64?
    @Flag(help: "Print one JSON object per line, see Docs/cluster-json.md.") var json = false
    @Flag(help: "Only print the JSON Schema of files with faults.") var schema = false

    package init() {}

    package func validate() throws {
        guard !self.schema else { return }
        _ = try self.pairs()
        _ = try self.controlPath()
    }

    private func pairs() throws -> [ProxyServer.Pair] {
        guard !self.listen.isEmpty else { throw ValidationError("name where to listen: --listen ADDRESS") }
        guard self.listen.count == self.to.count else {
            throw ValidationError(
                "each --listen needs a --to: there are \(self.listen.count) and \(self.to.count)")
        }
        var pairs: [ProxyServer.Pair] = []
        for (text, target) in zip(self.listen, self.to) {
            let listen = try Self.listenAddress(text, "--listen")
            let gateway = try serviceAddress(target, option: "--to")
            guard "\(listen)" != "\(gateway)" else {
                throw ValidationError("--listen and --to are the same address, \(listen)")
            }
            if let other = pairs.first(where: { $0.listen.collides(with: listen) }) {
                throw ValidationError("--listen \(listen) and --listen \(other.listen) cannot both be open")
            }
            pairs.append(ProxyServer.Pair(listen, to: gateway))
        }
        return pairs
    }

    private static func listenAddress(_ text: String, _ option: String) throws -> ListenAddress {
        do throws(ListenAddressError) { return try ListenAddress(text) } catch {
            throw ValidationError("\(option) \(Terminal.printable(text)): \(error)")
        }
    }

    /// The whole path of the control socket.
    private func controlPath() throws -> String? {
        guard let control else { return nil }
        let path = control.hasPrefix("unix:") ? String(control.dropFirst(5)) : control
        let whole =
            path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
        guard case .unix(let checked) = try Self.listenAddress("unix:\(whole)", "--control") else {
            return nil
        }
        return checked
    }

    private func readFaults() throws -> ProxyFaults {
        guard let file = self.faults else { return ProxyFaults() }
        let content: FileContent
        do throws(FileError) {
            content = file == "-" ? try .standardInput() : try FileContent(path: file, allowsPipe: true)
        } catch {
            throw CommandFailure("\(file) cannot be read: \(error)")
        }
        do throws(ScenarioErrors) {
            return try ScenarioReader.proxyFaults(String(decoding: content.bytes, as: UTF8.self), file: file)
        } catch {
            Terminal.notes(error.errors.map { "Error: \($0)" }.joined(separator: "\n"))
            throw ExitCode.failure
        }
    }

    package func run() async throws {
        if self.schema { return Terminal.write(try Resources.faultsSchema()) }
        let (pairs, control) = (try self.pairs(), try self.controlPath())
        let read = try self.readFaults()
        // Each connection needs two.
        _ = DescriptorLimit.raise()
        let (events, event) = AsyncStream.makeStream(
            of: ProxyPrinter.Line.self, bufferingPolicy: .bufferingOldest(Self.linesMax))
        let start = ContinuousClock.now
        let server = ProxyServer(pairs, seed: self.seed ?? read.seed ?? 1) {
            event.yield(ProxyPrinter.Line(event: $0, since: ContinuousClock.now - start, time: Date()))
        }
        for fault in read.faults { try await server.begin(fault) }
        let addresses: [ListenAddress]
        do throws(ListenerError) { addresses = try await server.open(control: control) } catch {
            throw CommandFailure("\(error)")
        }
        let ending = Ending.include { server.removeFilesNow() }
        let opened = zip(addresses, pairs).map { ProxyServer.Pair($0, to: $1.gateway) }
        let printer = ProxyPrinter(opened, isJSON: self.json)
        let printing = Task { for await line in events { printer.print(line) } }
        let (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        // A proxy ends only so: that is no failure.
        try await interruptible({ stop.yield() }, harmless: [130, 143]) {
            printer.printOpened(control: control)
            for await _ in stops { break }
        }
        await server.close()
        Ending.leaveOut(ending)
        event.finish()
        await printing.value
        printer.printSummary(await server.counts, ContinuousClock.now - start)
    }
}
