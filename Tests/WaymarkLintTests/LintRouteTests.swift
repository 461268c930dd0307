import Foundation
import RecordedRoutes
import RigMutants
import Testing
import WaymarkLint
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

/// Real routes are the judges of the rules: their drives must have no findings.
@Suite struct LintRouteTests {
    /// A recorded answer of a routing engine.
    struct File: Sendable, CustomTestStringConvertible {
        let url: URL
        var testDescription: String { self.url.lastPathComponent }
    }

    private static let environment = ProcessInfo.processInfo.environment

    /// A drive of this length takes long to judge, so it is driven only with `WAYMARK_LINT_ALL`.
    private static let longMeters: UInt32 = 15_000

    /// The shipped routes, and the recorded ones beside the package.
    private static let files = (RecordedRoutes.shipped + RecordedRoutes.recorded).map { File(url: $0.url) }

    /// Files whose answer contradicts itself, by folder and name, with the one rule that must find it.
    private static let expected = [
        // Every arrow of its valid lanes is more than 45 degrees away from the maneuver, so none is lit.
        "mapbox/max-speed-254km.json": "LINT-LANE-HIGHLIGHT", "mapbox/two-legs.json": "LINT-LANE-HIGHLIGHT",
        "mapbox/two-legs-rotary.json": "LINT-LANE-HIGHLIGHT",
        "osrm-live/singapore-left-lanes.json": "LINT-LANE-HIGHLIGHT",
    ]

    @Test(arguments: Self.files)
    func `no shipped or shared route has a finding`(_ file: File) throws {
        // Some files are no answers, or refuse to be one.
        guard let answer = try? RouteReader.read([UInt8](Data(contentsOf: file.url))) else { return }
        let isEveryOneDriven = Self.environment["WAYMARK_LINT_ALL"] != nil
        let expected = Self.expected[file.url.pathComponents.suffix(2).joined(separator: "/")]
        var (isFound, isLeftOut) = (false, false)
        for (index, route) in answer.routes.enumerated() {
            let trip = Drive(route: route).information.tripTravelEstimates
            let meters = try #require(trip).distanceRemaining.meters
            guard isEveryOneDriven || meters < Self.longMeters else {
                isLeftOut = true
                continue
            }
            for speed in [0.5, 1, 20, 200] {
                let drive = PublishedDrive(route, answer.trip(id: "t"), speed: speed)
                #expect(drive.publications.count > 3)
                for finding in LintSketch.findings(drive.publications) {
                    if "\(finding.rule)" == expected {
                        isFound = true
                        continue
                    }
                    let seconds = Double(finding.instant.nanoseconds) / 1e9
                    Issue.record(
                        "route \(index), speed \(speed), \(seconds) s: \(finding.rule) \(finding.field): \(finding.text)"
                    )
                }
            }
        }
        #expect(isFound || expected == nil || isLeftOut)
    }

    @Test func `there are routes to drive`() { #expect(Self.files.count >= 4) }
}
