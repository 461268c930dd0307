import Foundation
import Logging
import Testing
import WaymarkCodec
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkProtocol

@testable import Load

/// The load generator with the daemon: both must speak the same protocol. Nothing is timed.
@Suite(.serialized) struct LoadTests {
    @Test(arguments: Plan.Mode.allCases)
    func `the daemon forwards exactly what was published`(_ mode: Plan.Mode) async throws {
        let result = try await self.measure(mode) { _ in }
        #expect(result.isVerified)
        switch mode {
        case .saturate, .rate, .slow, .request, .storm: #expect(result.verified > 0)
        case .connect, .idle: #expect(try #require(result.connectionsPerSecond) > 0)
        }
    }

    @Test(arguments: [Payload.estimates, .route(points: 12_500)])
    func `small and large messages are forwarded`(_ payload: Payload) async throws {
        let result = try await self.measure(.saturate) { $0.payload = payload }
        #expect(result.isVerified)
        #expect(result.verified > 0)
    }

    @Test func `concurrent drives are forwarded`() async throws {
        let result = try await self.measure(.saturate) {
            $0.streams = 3
            $0.endpoints = 6
        }
        #expect(result.isVerified)
        #expect(result.verified > 0)
    }

    @Test func `bodies are real messages of the documented lengths`() throws {
        for (payload, length) in [
            (Payload.roadName, 128...128), (.estimates, 15...25), (.route(points: 12_500), 48_000...52_000),
        ] {
            let template = payload.body()
            #expect(length.contains(template.bytes.count), "\(payload)")
            let messages = try [0, 1, 12_345_678].map { number in
                let body = [UInt8](unsafeUninitializedCapacity: template.bytes.count) { buffer, count in
                    template.write(number, to: buffer.baseAddress!)
                    count = template.bytes.count
                }
                let header = FrameHeader(type: payload.type.rawValue, session: SessionID(1), sequence: 2)
                return try Codec.decode(Frame(header: header, body: body)).message
            }
            #expect(Set(messages).count == messages.count)
        }
    }

    @Test(arguments: FaultyRelay.Fault.allCases)
    func `lost, swapped and changed messages are detected`(_ fault: FaultyRelay.Fault) async throws {
        let relay = try FaultyRelay(fault)
        var plan = Plan(language: .relay, mode: .rate, address: .unix(relay.path))
        plan.warmup = 0
        plan.duration = 0.2
        do {
            let result = try await Self.run(plan)
            #expect(fault == .loses ? result.missing == 1 : fault == .none)
            #expect(result.isVerified == (fault == .none))
        } catch LoadError.unexpected {
            #expect(fault == .swaps || fault == .changes)
        }
    }

    /// A short run with a new daemon.
    private func measure(_ mode: Plan.Mode, _ change: (inout Plan) -> Void) async throws -> LoadResult {
        let folder = try Folder()
        var settings = Settings()
        settings.listeners = [.init(address: "unix:\(folder.path)/socket", roles: [.vehicle, .navigation])]
        settings.connectionsMax = 100  // Fits every descriptor limit.
        settings.drainTimeout = .seconds(2)
        // On a busy machine the generator may answer late.
        settings.connection.handshakeTimeout = .seconds(600)
        settings.connection.keepalive = .seconds(600)
        let daemon = try await Daemon.start(
            settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var plan = Plan(language: .waymark, mode: mode, address: .unix("\(folder.path)/socket"))
        plan.endpoints = 20
        plan.snapshotPoints = 10
        plan.concurrency = 8
        plan.warmup = 0.1
        plan.duration = 0.2
        plan.rate = 200
        plan.process = getpid()
        change(&plan)
        let result: Result<LoadResult, any Error>
        do { result = .success(try await Self.run(plan)) } catch { result = .failure(error) }
        await daemon.shutdown()
        return try result.get()
    }

    /// Runs on a separate thread, because it blocks.
    private static func run(_ plan: Plan) async throws -> LoadResult {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try plan.run() }) }
        }
    }
}

/// A temporary folder.
final class Folder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "load-\(UInt32.random(in: 0 ... .max))")
        .path

    init() throws {
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
