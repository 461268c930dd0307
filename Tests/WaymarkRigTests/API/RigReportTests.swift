import Foundation
import Testing
import WaymarkModel
import WaymarkRig

@Suite struct RigReportTests {
    /// The red test of Docs/rig.md.
    private static func wrongLane() async -> RigFailure? {
        await #expect(throws: RigFailure.self) {
            try await withRig(route: .heidelbergLanes, startAt: .meters(600)) { rig in
                try await rig.run(
                    until: .state {
                        $0.next.id == 4
                        $0.maneuverState == .prepare
                    }, within: .seconds(60))
                try await rig.expect(
                    .eventually(within: .seconds(2)) {
                        $0.next.type == .leftTurn
                        $0.lanes.highlighted == [4]
                    }
                    .because("The driver must change lanes in time."),
                    fileID: "DriveTests/LaneTests.swift", line: 11, column: 29)
            }
        }
    }

    @Test func `the page shows what a red test prints`() async throws {
        let failure = try #require(await Self.wrongLane())
        let page = try String(
            contentsOf: Repository.root.appending(path: "Docs/rig.md"), encoding: .utf8)
        #expect(page.contains(failure.description), "\(failure.description)")
    }

    @Test func `no line of a report is wider than a terminal`() async throws {
        let failure = try #require(await Self.wrongLane())
        #expect(failure.description.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
