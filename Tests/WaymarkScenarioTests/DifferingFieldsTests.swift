import Testing
import WaymarkModel
import WaymarkProtocol

@testable import ExpectedState
@testable import WaymarkScenario

@Suite struct DifferingFieldsTests {
    private static func texts(_ mine: DriveState, _ theirs: DriveState) -> [String] {
        mine.differences(from: theirs).flatMap(DifferingFields.of).map {
            "\($0.path): \($0.expected) / \($0.seen)"
        }
    }

    @Test func `values differ field by field`() {
        var (mine, theirs) = (DriveState(), DriveState())
        mine.tripEstimates = TravelEstimates(
            distanceRemaining: .meters(4_100), timeRemaining: .seconds(300))
        #expect(Self.texts(mine, theirs) == ["tripEstimates: {distanceMeters 4100 m…} / nothing"])
        theirs.tripEstimates = TravelEstimates(
            distanceRemaining: .meters(4_420), timeRemaining: .seconds(300))
        theirs.roadName = ["Landstrasse"]
        mine.maneuverState = .prepare
        #expect(
            Self.texts(mine, theirs) == [
                "roadName: [] / [\"Landstrasse\"]", "maneuverState: prepare / nothing",
                "tripEstimates.distanceMeters: 4100 m / 4420 m",
            ])
    }

    @Test func `elements of a list are named by their place`() {
        var (mine, theirs) = (DriveState(), DriveState())
        mine.maneuvers = (1...3).map {
            Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn, instructionVariants: ["Left"])
        }
        theirs.maneuvers = mine.maneuvers
        theirs.maneuvers[1].instructionVariants = ["Right"]
        theirs.maneuvers[2].initialTravelEstimates = TravelEstimates(
            distanceRemaining: .meters(7), timeRemaining: nil)
        #expect(
            Self.texts(mine, theirs) == [
                "maneuvers[1].instructionVariants[0]: Left / Right",
                "maneuvers[2].initialTravelEstimates: nothing / {distanceMeters 7 m…}",
            ])
        theirs.maneuvers.removeLast()
        #expect(Self.texts(mine, theirs) == ["maneuvers: [1, 2, 3] / [1, 2]"])
    }
}
