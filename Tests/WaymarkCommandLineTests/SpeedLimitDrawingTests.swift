import Testing
import WaymarkModel

@testable import WaymarkClient
@testable import WaymarkCommandLine

@Suite struct SpeedLimitDrawingTests {
    private static let ahead = SpeedLimitAhead(
        SpeedLimit(80, .kilometersPerHour, sign: .vienna), in: .meters(1_230),
        distanceToDisplay: DisplayDistance(valueTenths: 12, unit: .kilometers))

    @Test func `a limit in a country of the Vienna Convention is a round sign`() {
        let limit = SpeedLimit(50, .kilometersPerHour, sign: .vienna)
        #expect(SpeedLimitDrawing.lines(limit, next: nil) == ["╭────╮", "│ 50 │", "╰────╯"])
        #expect(
            SpeedLimitDrawing.lines(limit, next: Self.ahead)
                == ["╭────╮", "│ 50 │", "╰────╯", "80 km/h in 1.2 km"].map { $0.padded(to: 17) })
        let free = SpeedLimit(status: .none, sign: .vienna)
        #expect(SpeedLimitDrawing.lines(free, next: nil)[1] == "│ ╱╱ │")
    }

    @Test func `a limit in a country of the MUTCD is a rectangular sign, with a plate for its kind`() {
        let limit = SpeedLimit(35, .milesPerHour, kind: .schoolZone, sign: .mutcd)
        let lines = SpeedLimitDrawing.lines(limit, next: nil)
        #expect(lines.map(\.count) == Array(repeating: 11, count: 6))
        #expect(
            lines[1].hasPrefix("│SPEED│") && lines[2].hasPrefix("│LIMIT│") && lines[3].hasPrefix("│ 35  │"))
        #expect(lines[5] == "school zone")
        let posted = SpeedLimit(100, .kilometersPerHour, kind: .posted, sign: .mutcd)
        #expect(SpeedLimitDrawing.lines(posted, next: nil).count == 5)
    }

    @Test func `a limit whose sign is not known is a text, and one that is not known is nothing`() {
        let limit = SpeedLimit(50, .kilometersPerHour)
        #expect(SpeedLimitDrawing.lines(limit, next: nil) == ["50 km/h"])
        #expect(SpeedLimitDrawing.lines(.unlimited, next: nil) == ["no limit"])
        #expect(SpeedLimitDrawing.lines(.unknown, next: nil) == [])
        #expect(SpeedLimitDrawing.lines(nil, next: nil) == [])
        #expect(SpeedLimitDrawing.lines(.unknown, next: Self.ahead) == ["80 km/h in 1.2 km"])
    }

    @Test func `the line of a limit does not change with the distance to the next one`() {
        let limit = SpeedLimit(50, .kilometersPerHour)
        #expect(SpeedLimitDrawing.words(limit, next: nil) == "speed limit 50 km/h")
        #expect(
            SpeedLimitDrawing.words(limit, next: Self.ahead.limit) == "speed limit 50 km/h, then 80 km/h")
        #expect(
            SpeedLimitDrawing.words(.unknown, next: Self.ahead.limit) == "speed limit ahead: 80 km/h")
        #expect(SpeedLimitDrawing.words(.unknown, next: nil) == nil)
        #expect(SpeedLimitDrawing.words(nil, next: nil) == nil)
    }

    // MARK: The screen

    private static func screen(columns: Int) -> [String] {
        var view = ClusterScreen.View()
        view.state.phase = .active
        view.state.maneuvers = [Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn)]
        view.state.maneuvers[0].instructionVariants = [
            "Turn left onto the very long Street of the Seven Windmills and their Millers", "Turn left",
        ]
        view.state.upcomingManeuvers = [ManeuverID(rawValue: 1)]
        view.state.speedLimit = SpeedLimit(50, .kilometersPerHour, sign: .vienna)
        view.state.nextSpeedLimit = Self.ahead
        return ClusterScreen.lines(view, columns: columns, rows: 24)
    }

    @Test func `the sign is on the right of the maneuvers, which get shorter texts if they need to`() {
        let lines = Self.screen(columns: 80)
        #expect(lines.allSatisfy { $0.count <= 80 })
        let row = lines.firstIndex { $0.contains("│ 50 │") }
        #expect(row.map { lines[$0].contains("Turn left") && !lines[$0].contains("Windmills") } == true)
        #expect(lines.contains { $0.hasSuffix("80 km/h in 1.2 km") })
    }

    @Test func `a narrow screen has the limit as a line`() {
        let lines = Self.screen(columns: 50)
        #expect(lines.contains("  speed limit 50 km/h, then 80 km/h"))
        #expect(!lines.contains { $0.contains("╭") })
    }
}

extension String {
    /// The text, filled with spaces.
    fileprivate func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: columns - self.count)
    }
}
