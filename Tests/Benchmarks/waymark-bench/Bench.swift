import ArgumentParser
import Foundation
import Load

@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waymark-bench",
        abstract: "Loads a server with publishers and endpoints and says what that costs, as JSON.",
        discussion:
            "scripts/measure/bench.py runs it against waymarkd and other servers and makes tables of the results."
    )

    @Option(help: "waymark, relay, nats, redis or mqtt.") var language: Plan.Language
    @Option(help: "saturate, rate, slow, connect, idle, request or storm.") var mode: Plan.Mode
    @Option(help: "unix:/path, or tcp:PORT of 127.0.0.1.", transform: Self.address) var address: Plan.Address
    @Option(help: "The server's process id.") var process: Int32?
    @Option var endpoints = 1
    @Option(help: "Publishers; the endpoints are spread over them.") var streams = 1
    @Option(help: "name, estimates, or route:POINTS.", transform: Self.payload) var payload = Payload.roadName
    @Option(help: "Messages per second of all publishers.") var rate = 1_000.0
    @Option(help: "Seconds that count.") var duration = 2.0
    @Option(help: "Seconds before them.") var warmup = 0.5
    @Option(help: "Handshakes, or requests, at a time.") var concurrency = 64
    @Option(help: "Endpoints that do not read, in mode slow.") var stalled = 1
    @Option(help: "Waymark's keepalive in seconds.") var keepalive = 600
    @Option(help: "Points of the route that a session begins with.") var snapshotPoints = 0

    func run() throws {
        var plan = Plan(language: self.language, mode: self.mode, address: self.address)
        plan.process = self.process
        plan.endpoints = self.endpoints
        plan.streams = self.streams
        plan.payload = self.payload
        plan.rate = self.rate
        plan.duration = self.duration
        plan.warmup = self.warmup
        plan.concurrency = self.concurrency
        plan.stalled = self.stalled
        plan.keepalive = self.keepalive
        plan.snapshotPoints = self.snapshotPoints
        let result = try plan.run()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(result), as: UTF8.self))
        if !result.isVerified { throw ExitCode(1) }
    }

    @Sendable private static func address(_ text: String) throws -> Plan.Address {
        if text.hasPrefix("unix:") { return .unix(String(text.dropFirst(5))) }
        guard text.hasPrefix("tcp:"), let port = UInt16(text.dropFirst(4)) else {
            throw ValidationError("\(text) is not an address")
        }
        return .tcp(port: port)
    }

    @Sendable private static func payload(_ text: String) throws -> Payload {
        switch text.split(separator: ":").map(String.init) {
        case ["name"]: return .roadName
        case ["estimates"]: return .estimates
        case let words where words.count == 2 && words[0] == "route":
            guard let points = Int(words[1]), points > 0 else { break }
            return .route(points: points)
        case _: break
        }
        throw ValidationError("\(text) is not a payload")
    }
}

extension Plan.Language: ExpressibleByArgument {}
extension Plan.Mode: ExpressibleByArgument {}
