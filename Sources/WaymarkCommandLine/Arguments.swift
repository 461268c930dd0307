internal import ArgumentParser
internal import Foundation
internal import ListeningSockets
internal import ProcessIO
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

// Arguments that several commands share. A wrong argument throws a `ValidationError`, which shows the usage; a failure that the
// user did not type throws a `CommandFailure`.

/// A failure other than a wrong argument. Its text may be that of a file, an engine or a gateway.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = Terminal.printable(description) }
}

/// The error to show for a `ClientError`: an argument that is not allowed is a `ValidationError`.
func failure(_ error: ClientError) -> any Error {
    if case .invalid(let reason) = error { return ValidationError(Terminal.printable(reason)) }
    return CommandFailure("\(error)")
}

/// The side of the road.
enum Side: String, Sendable, CaseIterable, ExpressibleByArgument {
    case left, right

    var trafficSide: TrafficSide { self == .left ? .left : .right }
}

/// Reads `LAT,LON` in degrees.
func coordinate(_ text: String) throws -> Coordinate {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
        .map { Double($0.trimmingCharacters(in: .whitespaces)) }
    guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1],
        (-90.0...90).contains(latitude), (-180.0...180).contains(longitude)
    else { throw ValidationError("\(text) is not LAT,LON in degrees, e.g. 47.141,9.5215") }
    return Coordinate(latitude: latitude, longitude: longitude)
}

/// Checks how many times faster than real time a drive is to be.
func checkSpeed(_ speed: Double) throws {
    guard speed > 0, speed <= 10_000 else { throw ValidationError("--speed must be above 0, at most 10000") }
}

/// Reads a number of seconds, above 0 unless `allowsZero`; the error names the option.
func duration(seconds: Double, option: String, allowsZero: Bool = false) throws -> Duration {
    guard seconds > 0 || allowsZero && seconds == 0, seconds <= 604_800 else {
        let least = allowsZero ? "0 or more" : "above 0"
        throw ValidationError("\(option) must be \(least), at most 604800 seconds, a week")
    }
    return .seconds(seconds)
}

/// A number of seconds for people: `120 seconds`, `0.2 seconds`.
func secondsText(_ seconds: Double) -> String {
    "\(Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)") second\(seconds == 1 ? "" : "s")"
}

/// Reads `KIND=URL`.
func routingEngine(_ text: String, _ side: Side?) throws -> any RoutingEngine {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    let reading = RouteReadingOptions(trafficSide: side?.trafficSide)
    do throws(RoutingError) {
        if parts.count == 2 {
            switch parts[0] {
            case "valhalla":
                var engine = try ValhallaEngine(parts[1], reading: reading)
                engine.readsSpeedLimits = true
                return engine
            case "osrm": return try OSRMEngine(parts[1], reading: reading)
            default: break  // Refused below.
            }
        }
    } catch {
        throw ValidationError("--engine: \(error)")
    }
    throw ValidationError("--engine \(text) is not valhalla=URL or osrm=URL")
}

/// Reads an engine's answer from a file, or from standard input for `-`.
func readAnswer(_ file: String, _ side: Side?) throws -> RouteAnswer {
    let content: FileContent
    do throws(FileError) {
        content = file == "-" ? try .standardInput() : try FileContent(path: file, allowsPipe: true)
    } catch {
        throw CommandFailure("\(file) cannot be read: \(error)")
    }
    return try readAnswer(content.bytes, name: file, side)
}

/// Reads an engine's answer.
func readAnswer(_ bytes: [UInt8], name: String, _ side: Side? = nil) throws -> RouteAnswer {
    do throws(RouteReadingError) {
        return try RouteReader.read(bytes, options: RouteReadingOptions(trafficSide: side?.trafficSide))
    } catch {
        throw CommandFailure("\(name): \(error)")
    }
}

/// Reads where to connect to.
@Sendable func serviceAddress(_ text: String) throws -> ServiceAddress {
    guard let address = ServiceAddress(text) else {
        let isRelative = text.hasPrefix("unix:")
        throw ValidationError(
            Terminal.printable(text)
                + (isRelative
                    ? ": \(ListenAddressError.badPath)"
                    : " is not an address; use tcp:HOST:PORT or unix:/path"))
    }
    return address
}

/// The same; the error names the option.
func serviceAddress(_ text: String, option: String) throws -> ServiceAddress {
    do { return try serviceAddress(text) } catch let error as ValidationError {
        throw ValidationError("\(option) \(error.message)")
    }
}

/// How to reach the gateway.
struct ConnectionOptions: ParsableArguments {
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
        help: "How many seconds to wait for a gateway that cannot be reached yet; without it try once.")
    var wait: Double?

    func validate() throws { if let wait { _ = try duration(seconds: wait, option: "--wait") } }

    /// Where to connect to; the error names the option.
    func address(default fallback: ServiceAddress) throws -> ServiceAddress {
        try Self.address(self.connect, default: fallback)
    }

    /// The address in an option `--connect`, or `fallback` without it.
    static func address(_ connect: String?, default fallback: ServiceAddress) throws -> ServiceAddress {
        guard let connect else { return fallback }
        return try serviceAddress(connect, option: "--connect")
    }

    /// The pre-shared key; empty without one.
    func key() throws -> [UInt8] { try Self.key(self.keyFile) }

    /// The key in a file; empty without one.
    static func key(_ keyFile: String?) throws -> [UInt8] {
        guard let keyFile else { return [] }
        var key: [UInt8]
        do throws(FileError) { key = try FileContent(path: keyFile, allowsPipe: true).bytes } catch {
            throw CommandFailure("\(keyFile) cannot be read: \(error)")
        }
        if key.last == 0x0A { key.removeLast() }
        return key
    }

    /// How long to wait between two attempts to connect.
    private static let retryDelay = Duration.milliseconds(200)

    /// Calls `connect`; while nothing can be reached at the address, calls it again for as long as `--wait` says.
    ///
    /// - Throws: The last error; ``ClientError/closed`` if the task was cancelled.
    func waitingForGateway<Peer: Sendable>(
        _ connect: @Sendable () async throws(ClientError) -> Peer
    ) async throws(ClientError) -> Peer {
        let end = ContinuousClock.now + .seconds(self.wait ?? 0)
        var isNoted = false
        while true {
            do throws(ClientError) { return try await connect() } catch {
                guard case .cannotConnect = error, ContinuousClock.now < end else { throw error }
                if !isNoted { Terminal.note("waiting up to \(secondsText(self.wait ?? 0)): \(error)") }
                isNoted = true
            }
            do { try await Task.sleep(for: Self.retryDelay) } catch { throw .closed }
        }
    }
}
