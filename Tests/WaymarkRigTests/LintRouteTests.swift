import Foundation
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes

/// Real routes are the judges of the rules: their drives must have no findings.
@Suite struct LintRouteTests {
    /// A recorded answer of a routing engine.
    struct File: Sendable, CustomTestStringConvertible {
        let url: URL
        var testDescription: String { self.url.lastPathComponent }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let environment = ProcessInfo.processInfo.environment

    /// A drive of this length takes long to judge, so it is driven only with `WAYMARK_LINT_ALL`.
    private static let longMeters: UInt32 = 15_000

    /// The shipped routes, and those of `WAYMARK_ROUTES` or of the folder beside the package.
    private static let files: [File] = {
        let shipped = Self.found(in: Self.root.appending(path: "Sources/WaymarkCommandLine/Resources/routes"))
        let folder =
            Self.environment["WAYMARK_ROUTES"].map { URL(filePath: $0) }
            ?? Self.root.deletingLastPathComponent().appending(path: "shared/routes")
        let recorded = Self.found(in: folder)
        if recorded.isEmpty {
            print("notice: no recorded routes in \(folder.path): set WAYMARK_ROUTES; skipped")
        }
        return shipped + recorded
    }()

    private static func found(in folder: URL) -> [File] {
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL } ?? []
        return files.filter { $0.pathExtension == "json" && !$0.path.contains("/traces/") }
            .sorted { $0.path < $1.path }.map { File(url: $0) }
    }

    @Test(arguments: Self.files)
    func `no shipped or shared route has a finding`(_ file: File) throws {
        // Some files are no answers, or refuse to be one.
        guard let answer = try? RouteReader.read([UInt8](Data(contentsOf: file.url))) else { return }
        let isEveryOneDriven = Self.environment["WAYMARK_LINT_ALL"] != nil
        for (index, route) in answer.routes.enumerated() {
            let trip = Drive(route: route).information.tripTravelEstimates
            let meters = try #require(trip).distanceRemaining.meters
            guard isEveryOneDriven || meters < Self.longMeters else { continue }
            for speed in [1.0, 20] {
                var drive = LintedDrive(route, answer.trip(id: "t"), speed: speed)
                let findings = drive.run()
                #expect(drive.publications > 2)
                for finding in findings {
                    let seconds = Double(finding.instant.nanoseconds) / 1e9
                    Issue.record(
                        "route \(index), speed \(speed), \(seconds) s: \(finding.rule) \(finding.field): \(finding.text)"
                    )
                }
            }
        }
    }

    @Test func `there are routes to drive`() { #expect(Self.files.count >= 4) }
}

/// What `waymark navigate` publishes on a drive, judged as it comes.
struct LintedDrive {
    private static let app = PeerID.client(ClientID(unchecked: "app"))

    private var drive: Drive
    private let trip: Trip
    private var linter: Linter
    private var history = History()
    private var sequence: UInt64 = 0
    private var findings: [Finding] = []
    private let tick: Duration
    private(set) var publications = 0

    init(_ route: EngineRoute, _ trip: Trip, speed: Double) {
        var options = DriveOptions()
        options.speedFactor = speed
        self.drive = Drive(route: route, options: options)
        self.trip = trip
        // Why coarser in real time: the drive hardly changes in between.
        self.tick = .milliseconds(speed > 1 ? 50 : 200)
        var allowances = [
            LintAllowance(.driveSilent, reason: "a drive tells estimates only when what is shown changes")
        ]
        if speed > 1 { allowances.append(LintAllowance(.rateFast, reason: "the drive is 20 times faster")) }
        self.linter = Linter(allowing: allowances)
    }

    mutating func run() -> [Finding] {
        self.publish(.startGuidance(self.trip, generation: 1, self.drive.information), at: .zero)
        var elapsed = Duration.zero
        var changes: [DriveChange] = []
        while self.drive.state == .driving {
            changes.removeAll(keepingCapacity: true)
            self.drive.advance(to: elapsed, into: &changes)
            for change in changes {
                if let publication = Self.publication(change) { self.publish(publication, at: elapsed) }
            }
            elapsed += self.tick
        }
        self.publish(.pauseGuidance(.arrived, description: []), at: elapsed)
        self.publish(.finishGuidance, at: elapsed)
        return self.findings
    }

    private mutating func publish(_ publication: Publication, at elapsed: Duration) {
        self.sequence += 1
        self.publications += 1
        let instant = Instant(nanoseconds: 0) + elapsed
        let frame = Codec.encode(
            Envelope(.publication(publication), session: SessionID(1), sequence: self.sequence))
        let crossed = CrossedFrame(frame, of: Self.app, .toGateway, sent: instant)
        guard let entry = self.history.append(.frame(crossed), at: instant) else { return }
        self.findings += self.linter.see(entry)
    }

    /// As `waymark navigate` publishes it.
    private static func publication(_ change: DriveChange) -> Publication? {
        switch change {
        case .position, .offRoute, .finished: nil
        case .upcomingManeuvers(let ids): .upcomingManeuvers(ids, generation: 1)
        case .maneuverState(let state): .maneuverState(state, generation: 1)
        case .currentLaneGuidance(let id): .currentLaneGuidance(id, generation: 1)
        case .roadName(let names): .currentRoadName(names)
        case .currentSegment(let id): .currentRouteSegment(id, generation: 1)
        case .tripEstimates(let estimates, let color): .tripEstimates(estimates, color)
        case .maneuverEstimates(let id, let estimates): .maneuverEstimates(id, estimates, generation: 1)
        case .arrivedAtWaypoint: .pauseGuidance(.arrived, description: [])
        case .leavingWaypoint: .resumeGuidance(generation: 1, .unknown, nil)
        }
    }
}
