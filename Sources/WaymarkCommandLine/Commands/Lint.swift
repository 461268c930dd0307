package import ArgumentParser
internal import Foundation
internal import ProcessIO
internal import WaymarkClient
internal import WaymarkLint
internal import WaymarkTexts

package struct Lint: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Find mistakes of navigation clients and vehicles.",
        usage: "waymark lint FILES ... [<options>]\nwaymark lint --live [<options>]",
        discussion: """
            Judges recordings, or with --live a gateway until it is interrupted, and prints a line for each thing that is \
            probably a mistake: distances that rise, lanes that no maneuver links to, a client that stops publishing. At the \
            end it prints how often each rule found something. Docs/lint.md explains every rule.

            The exit status is 0 if nothing was found, 1 if something was, 2 if a recording could not be read or the gateway \
            could not be watched.
            """)

    @Argument(
        help: "Recordings, of `waymark record` or of `waymark test`.", completion: .file(extensions: ["mcap"])
    )
    var files: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Judge what crosses a gateway, from now on.") var live = false
    @Option(help: "Only what concerns this vehicle; may be given several times.") var vehicle: [String] = []
    @Option(
        help: ArgumentHelp(
            "Do not print the findings of a rule, and why; may be given several times.",
            valueName: "id=reason"),
        completion: .list(LintID.allCases.map { "\($0)=" }))
    var allow: [String] = []
    @Flag(help: "Print one JSON object per line, see Docs/cluster-json.md.") var json = false
    @Flag(help: "Only print the rules, and what a finding of each means.") var list = false

    package init() {}

    package func validate() throws {
        guard self.list || self.live == self.files.isEmpty else {
            throw ValidationError(
                self.live
                    ? "either --live, for a gateway, or recordings"
                    : "name a recording, or --live to judge what crosses a gateway")
        }
        _ = try self.allowances()
    }

    package func run() async throws {
        if self.list {
            for rule in LintID.allCases { Terminal.line("\(rule)  \(rule.sentence)") }
            return
        }
        let columns = Terminal.isInteractive ? Terminal.size.columns : nil
        guard self.live else {
            var lint = try RecordingLint(
                self.files, try self.allowances(), vehicles: self.vehicle, isJSON: self.json, columns: columns
            )
            return try lint.run()
        }
        let address = try self.connection.address(default: .defaultObserver)
        let printer = LintPrinter(
            LiveLinter(allowing: try self.allowances()), isJSON: self.json, columns: columns)
        var configuration = Observer.Configuration(id: "waymark-lint")
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        (configuration.vehicles, configuration.includesFrames) = (self.vehicle, true)
        configuration.onEveryUpdate = { printer.print($0) }
        configuration.onEveryConnectionState = { printer.print($0) }
        let timer = Task { await printer.keepTime() }
        var failure: (any Error)?
        do {
            // Watching ends only so: that is no failure.
            try await interruptible(harmless: [130, 143]) { [configuration] in
                try await self.watch(address, configuration)
            }
        } catch let error as ValidationError { throw error } catch { failure = error }
        timer.cancel()
        if let failure {
            if printer.hasBegun { printer.end() }
            Terminal.note("Error: \(failure)")
            throw ExitCode(2)
        }
        printer.end()
        if printer.findingCount > 0 { throw ExitCode(1) }
    }

    /// Reads `ID=REASON`.
    func allowances() throws -> [LintAllowance] {
        var allowances: [LintAllowance] = []
        for text in self.allow {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let rule = LintID(rawValue: String(parts[0])) else {
                throw ValidationError(
                    "--allow \(Terminal.printable(text)): there is no rule \(Terminal.printable(String(parts[0]))) "
                        + "(waymark lint --list prints all)"
                        + Spelling.hint(String(parts[0]), of: LintID.allCases.map(\.rawValue)))
            }
            let reason = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespacesAndNewlines) : ""
            guard !reason.isEmpty else {
                throw ValidationError("--allow \(rule) needs a reason: --allow \(rule)=REASON")
            }
            guard !allowances.contains(where: { $0.rule == rule }) else {
                throw ValidationError("--allow \(rule) is given twice")
            }
            allowances.append(LintAllowance(rule, reason: reason))
        }
        return allowances
    }

    /// Watches until the task is cancelled.
    private func watch(_ address: ServiceAddress, _ configuration: Observer.Configuration) async throws {
        let observer: Observer
        do throws(ClientError) {
            observer = try await self.connection.waitingForGateway { () throws(ClientError) in
                try await Observer.connect(to: address, configuration)
            }
        } catch {
            if [.closed, .cancelled].contains(error) { return }
            throw failure(error)
        }
        for await state in await observer.connectionStates {
            guard case .closed(let error) = state, error != .closed else { continue }
            throw CommandFailure("\(error)")
        }
        await observer.close()
    }
}
