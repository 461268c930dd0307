import Foundation
import RecordedRoutes
import Synchronization
import Testing
import WaymarkModel
import WaymarkRoutes

@testable import WaymarkClient
@testable import WaymarkCommandLine

/// Every stop that a vehicle's user has agreed to is visited.
@Suite(.timeLimit(.minutes(10))) struct AcceptedStopTests {
    private static let drives = 50
    private static let engine = ProcessInfo.processInfo.environment["WAYMARK_VALHALLA"]

    @Test func `each of 200 random stops is passed within 250 m, or was declined`() async throws {
        let roads = try Self.roads()
        #expect(!roads.isEmpty)
        let total = try await Self.check { seed, generator in
            let road = roads[Int(seed) % roads.count]
            let engine = TreeEngine(road: road)
            let stops = (0..<4).map { _ in
                engine.point(at: .random(in: 0...engine.length, using: &generator)).moved(
                    meters: .random(in: 0...2_500, using: &generator),
                    bearing: .random(in: 0..<360, using: &generator))
            }
            return Errand(engine: engine, from: road[0], to: road[road.count - 1], stops: stops)
        }
        #expect(total.accepted > 100 && total.invalid > 0, "\(total)")
    }

    @Test(.enabled(if: engine != nil, "WAYMARK_VALHALLA is not set: no live engine over Liechtenstein"))
    func `each of 200 random stops that a real engine finds is passed within 250 m, or was declined`()
        async throws
    {
        let engine = try ValhallaEngine(try #require(Self.engine))
        let total = try await Self.check { _, generator in
            func place() -> Coordinate {
                Coordinate(
                    latitude: .random(in: 47.06...47.24, using: &generator),
                    longitude: .random(in: 9.48...9.58, using: &generator))
            }
            let ends = [
                Coordinate(latitude: 47.141, longitude: 9.5215),
                Coordinate(latitude: 47.068, longitude: 9.501),
                Coordinate(latitude: 47.2137, longitude: 9.5230),
                Coordinate(latitude: 47.1655, longitude: 9.5105),
            ].shuffled(using: &generator)
            return Errand(engine: engine, from: ends[0], to: ends[1], stops: (0..<4).map { _ in place() })
        }
        #expect(total.accepted > 50, "\(total)")
    }

    // MARK: One drive

    private struct Errand: Sendable {
        let engine: any RoutingEngine
        let from: Coordinate
        let to: Coordinate
        let stops: [Coordinate]
    }

    private struct Total: Sendable {
        var asked = 0
        var accepted = 0
        var invalid = 0
        var farthest = 0.0
        var skipped: [String] = []
    }

    private static func check(_ make: (UInt64, inout SystemlessRandom) -> Errand) async throws -> Total {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "wa-\(UInt32.random(in: 0 ... .max))"
        ).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        var errands: [(seed: UInt64, errand: Errand, random: SystemlessRandom)] = []
        for seed in 0..<UInt64(Self.drives) {
            var generator = SystemlessRandom(state: seed &* 7_919 &+ 1)
            let errand = make(seed, &generator)
            errands.append((seed, errand, generator))
        }
        let all = errands
        let total = Mutex(Total())
        try await Demo.withDaemon(folder) {
            try await withThrowingTaskGroup(of: Total.self) { group in
                var next = 0
                for _ in 0..<4 {
                    let one = all[next]
                    group.addTask { try await Self.drive(one.errand, one.seed, one.random, folder) }
                    next += 1
                }
                while let one = try await group.next() {
                    total.withLock {
                        $0.asked += one.asked
                        $0.accepted += one.accepted
                        $0.invalid += one.invalid
                        $0.farthest = max($0.farthest, one.farthest)
                        $0.skipped += one.skipped
                    }
                    guard next < all.count else { continue }
                    let another = all[next]
                    group.addTask {
                        try await Self.drive(another.errand, another.seed, another.random, folder)
                    }
                    next += 1
                }
            }
        }
        let sum = total.withLock { $0 }
        print(
            "stops: \(sum.asked) asked, \(sum.accepted) accepted, \(sum.invalid) invalid, the farthest \(Int(sum.farthest)) m"
        )
        #expect(sum.skipped.isEmpty)
        #expect(sum.asked == 200)
        return sum
    }

    /// Drives there; meanwhile the vehicle asks for the stops, three of them at once, and its user takes a while to agree.
    private static func drive(
        _ errand: Errand, _ seed: UInt64, _ random: SystemlessRandom, _ folder: String
    ) async throws -> Total {
        var random = random
        let track = Track()
        let delays = (0..<4).map { _ in Int.random(in: 0...40, using: &random) }
        let refused = Int.random(in: 0..<20, using: &random)
        let starts = [Int.random(in: 1...60, using: &random), Int.random(in: 1...150, using: &random)]
        var configuration = VehicleEndpoint.Configuration(vehicle: "car-\(seed)", endpoint: "cluster")
        configuration.onPrompt = { prompt in
            let index = Int(prompt.waypoint.id) ?? 0
            await track.advance(by: delays[index])
            track.agree(index)
            return index != refused
        }
        let vehicle = try await VehicleEndpoint.connect(
            to: .unix(path: "\(folder)/vehicle.sock"), configuration)
        let navigator = Navigator(engine: errand.engine, policy: .init(), say: { _ in })
        try await navigator.connect(to: .unix(path: "\(folder)/navigation.sock"), id: "app-\(seed)", key: [])
        var plan = Navigator.Plan()
        plan.guide.drive.speedFactor = 50
        plan.guide.observe = { track.take($0) }
        let begin = ContinuousClock.now
        plan.guide.pace = Pace(
            now: { (ContinuousClock.now - begin) * 50 }, sleep: { try await Task.sleep(for: $0 / 50) })
        let answer = try await errand.engine.route(through: [
            Waypoint(center: errand.from), Waypoint(center: errand.to),
        ])
        let results = await withTaskGroup(of: (Int, RequestResult).self) { group in
            for (index, stop) in errand.stops.enumerated() {
                group.addTask {
                    await track.advance(by: starts[index / 3])
                    return (index, await vehicle.requestWaypoint(Waypoint(center: stop, id: "\(index)")))
                }
            }
            let drive = Task { [plan] in try await navigator.drive(answer, .vehicles(["car-\(seed)"]), plan) }
            do {
                let outcome = try await drive.value
                #expect(outcome == .arrived, "drive \(seed)")
            } catch { Issue.record("drive \(seed): \(error)") }
            track.finish()
            return await group.reduce(into: [Int: RequestResult]()) { $0[$1.0] = $1.1 }
        }
        await navigator.close()
        await vehicle.close()
        var total = Total()
        for (index, stop) in errand.stops.enumerated() {
            total.asked += 1
            if results[index] == .invalid { total.invalid += 1 }
            guard results[index] == .accepted else { continue }
            total.accepted += 1
            let nearest = track.nearest(to: stop, index)
            total.farthest = max(total.farthest, nearest)
            if nearest > 250 { total.skipped.append("stop \(index) of drive \(seed): \(Int(nearest)) m") }
        }
        return total
    }

    /// Where a vehicle has been.
    private final class Track: Sendable {
        private struct State {
            var positions: [Coordinate] = []
            var agreed: [Int: Int] = [:]
            var isStanding = false
            var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

            mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
                let ready = self.waiting.filter { self.isStanding || $0.count <= self.positions.count }
                self.waiting.removeAll { self.isStanding || $0.count <= self.positions.count }
                return ready.map(\.continuation)
            }
        }

        private let state = Mutex(State())

        func take(_ change: DriveChange) {
            let ready = self.state.withLock { state in
                if case .position(let place, _) = change {
                    state.positions.append(place)
                    state.isStanding = false
                }
                if case .finished = change { state.isStanding = true }
                return state.takeReady()
            }
            for continuation in ready { continuation.resume() }
        }

        func finish() {
            let ready = self.state.withLock { state in
                state.isStanding = true
                return state.takeReady()
            }
            for continuation in ready { continuation.resume() }
        }

        /// Returns when the vehicle has made so many steps more, or stands at its destination.
        func advance(by count: Int) async {
            await withCheckedContinuation { continuation in
                let ready = self.state.withLock { state in
                    state.waiting.append((state.positions.count + count, continuation))
                    return state.takeReady()
                }
                for continuation in ready { continuation.resume() }
            }
        }

        /// The user says yes to a stop: from here on it must be passed.
        func agree(_ index: Int) { self.state.withLock { $0.agreed[index] = max(0, $0.positions.count - 1) } }

        func nearest(to stop: Coordinate, _ index: Int) -> Double {
            self.state.withLock { state in
                state.positions[(state.agreed[index] ?? 0)...].map { $0.meters(to: stop) }.min() ?? .infinity
            }
        }
    }

    // MARK: Roads

    /// The lines of the routes that ship, and of those beside the package, from 2 to 40 km.
    private static func roads() throws -> [[Coordinate]] {
        (RecordedRoutes.shipped + RecordedRoutes.recorded).compactMap { file -> [Coordinate]? in
            guard let data = try? Data(contentsOf: file.url), data.count < 300_000,
                let route = try? RouteReader.read([UInt8](data)).routes.first
            else { return nil }
            let length = LineMeasure(line: route.line, speeds: route.lineSpeeds).length
            return (2_000...40_000).contains(length) ? route.line : nil
        }
    }
}

/// A small generator of the same numbers for the same seed (SplitMix64).
struct SystemlessRandom: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
