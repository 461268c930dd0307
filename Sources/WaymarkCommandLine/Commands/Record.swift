package import ArgumentParser
internal import Foundation
internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkRecording

package struct Record: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Record what crosses a gateway, and what happens in it, to files.",
        usage: "waymark record [<options>]",
        discussion: """
            Writes MCAP files until it is interrupted, see Docs/recordings.md. A file that is full, or old, is followed by the next; \
            of its own files it removes the oldest. It records all that the listener lets observers see.
            """)

    enum Redacted: String, CaseIterable, ExpressibleByArgument { case places }

    @OptionGroup var connection: ConnectionOptions
    @Option(
        help: "The folder for the files; it is made if there is none.", completion: .directory)
    var to = "."
    @Option(help: "The beginning of the files' names.") var name = "waymark"
    @Option(help: "Only what concerns this vehicle; may be given several times.") var vehicle: [String] = []
    @Option(help: "The size at which a file ends, e.g. 500MiB.") var maxFile = ByteSize(1_073_741_824)
    @Option(help: "After how many hours a file ends.") var maxHours = 24.0
    @Option(help: "How much is kept; the oldest files are removed.") var keep = ByteSize(20 * 1_073_741_824)
    @Option(help: "For how many days files are kept.") var keepDays = 7.0
    @Option(help: "What is removed before it is written: `places` are places, texts and unknown fields.")
    var redact: Redacted?

    package init() {}

    package func validate() throws {
        _ = try self.names()
        guard (1_048_576...(1 << 40)).contains(self.maxFile.bytes) else {
            throw ValidationError("--max-file must be 1MiB to 1024GiB")
        }
        guard self.keep.bytes >= self.maxFile.bytes else {
            throw ValidationError("--keep \(self.keep) is less than --max-file \(self.maxFile)")
        }
        guard self.maxHours > 0, self.maxHours <= 8_784 else {
            throw ValidationError("--max-hours must be above 0, at most 8784, a year")
        }
        guard self.keepDays > 0, self.keepDays <= 36_600 else {
            throw ValidationError("--keep-days must be above 0, at most 36600")
        }
    }

    private func names() throws -> RecordingNames {
        guard let names = RecordingNames(prefix: self.name) else {
            throw ValidationError(
                "--name \(Terminal.printable(self.name)) must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with a dot"
            )
        }
        return names
    }

    package func run() async throws {
        let address = try self.connection.address(default: .defaultObserver)
        let configuration = try self.configuration()
        let (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let session = RecordingSession(Recorder(self.options), try self.files()) { stop.yield() }
        // Recording ends only so: that is no failure.
        let lastStep: @Sendable () -> Void = { session.endAtOnce() }
        try await interruptible(harmless: [130], lastStep: lastStep) {
            try await self.record(address, configuration, session, stops)
        }
    }

    private var options: Recorder.Options {
        var options = Recorder.Options()
        options.redactsPlaces = self.redact == .places
        options.fileBytesMax = self.maxFile.bytes
        options.fileDurationMax = .seconds(self.maxHours * 3_600)
        options.vehicles = self.vehicle
        return options
    }

    private func files() throws -> RecordingFiles<RecordingFolder> {
        let names = try self.names()
        do throws(RecordingError) {
            return RecordingFiles(
                try RecordingFolder(path: self.to), names, keepBytes: self.keep.bytes,
                keepDuration: .seconds(self.keepDays * 86_400))
        } catch {
            throw CommandFailure("\(self.to) cannot be used: \(error)")
        }
    }

    private func configuration() throws -> Observer.Configuration {
        var configuration = Observer.Configuration(id: "waymark-record")
        configuration.credential = try self.connection.key()
        configuration.vehicles = self.vehicle
        configuration.includesFrames = true
        return configuration
    }

    /// How long the end of a recording waits for what is on its way.
    private static let catchUpMax = Duration.milliseconds(300)

    /// An attempt to observe the gateway. What ends one that failed must not end the next.
    private struct Attempt {
        let tap: ObservationTap
        let ends: AsyncStream<ClientError?>
        let end: AsyncStream<ClientError?>.Continuation

        init(
            _ address: ServiceAddress, _ configuration: Observer.Configuration, _ session: RecordingSession
        ) async throws(ClientError) {
            let (ends, end) = AsyncStream.makeStream(
                of: ClientError?.self, bufferingPolicy: .bufferingOldest(1))
            (self.ends, self.end) = (ends, end)
            self.tap = try await ObservationTap.connect(to: address, configuration) { event in
                session.handle(event)
                switch event {
                case .state(.closed(let error)): end.yield(error)
                case .received(.error(let rejection)):
                    end.yield(.rejected(field: rejection.field, reason: rejection.reason))
                default: break
                }
            }
        }
    }

    private func record(
        _ address: ServiceAddress, _ configuration: Observer.Configuration, _ session: RecordingSession,
        _ stops: AsyncStream<Void>
    ) async throws {
        let attempt: Attempt
        do throws(ClientError) {
            attempt = try await self.connection.waitingForGateway { () throws(ClientError) in
                try await Attempt(address, configuration, session)
            }
        } catch {
            if [.closed, .cancelled].contains(error) { return }
            throw failure(error)
        }
        let ticks = Task {
            while !Task.isCancelled {
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
                session.tick()
            }
        }
        let watcher = Task {
            for await _ in stops { attempt.end.yield(nil) }
        }
        var closed: ClientError?
        for await error in attempt.ends {
            closed = error
            break
        }
        // A gateway that is silent has nothing more to tell.
        if closed == nil { _ = await first(within: Self.catchUpMax) { await attempt.tap.catchUp() } }
        ticks.cancel()
        watcher.cancel()
        let summary = try session.end()
        Terminal.line(summary)
        await attempt.tap.close()
        if let closed, closed != .closed { throw CommandFailure("\(closed)") }
    }
}

/// A number of bytes, as `1GiB`, `500MiB` or `1000000`.
struct ByteSize: ExpressibleByArgument, CustomStringConvertible {
    private static let units: [(suffix: String, bytes: UInt64)] = [
        ("GiB", 1_073_741_824), ("MiB", 1_048_576), ("KiB", 1_024), ("", 1),
    ]

    let bytes: UInt64

    init(_ bytes: UInt64) { self.bytes = bytes }

    init?(argument: String) {
        for (suffix, bytes) in Self.units where argument.hasSuffix(suffix) {
            guard let number = UInt64(argument.dropLast(suffix.count)) else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: bytes)
            guard !isTooLarge else { return nil }
            self.bytes = product
            return
        }
        return nil
    }

    var description: String {
        for (suffix, bytes) in Self.units where self.bytes.isMultiple(of: bytes) && self.bytes > 0 {
            return "\(self.bytes / bytes)\(suffix)"
        }
        return "0"
    }

    var defaultValueDescription: String { self.description }
}
