import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkTexts

@testable import WaymarkClient
@testable import WaymarkCommandLine

struct ClusterJSONTests {
    private static let time = Date(timeIntervalSince1970: 1_700_000_000.25)

    private static func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func `every line has the time at which it was written`() throws {
        let state = VehicleState()
        let envelope = Envelope(.sessionRestored, session: SessionID(1), sequence: 1)
        for line in [
            ClusterJSON.connection(.connecting, at: Self.time),
            ClusterJSON.message(VehicleUpdate(envelope, state), at: Self.time),
            ClusterJSON.state(state, at: Self.time),
            try #require(ClusterJSON.change(CommandTests.fullState, since: state, at: Self.time)),
        ] {
            #expect(try Self.object(line)["time"] as? String == "2023-11-14T22:13:20.250Z")
        }
    }

    @Test func `the changes, one put over the other, are the whole state`() throws {
        var paused = CommandTests.fullState
        paused.alert = nil
        paused.tripEstimates = nil
        var active = paused
        active.phase = .active
        active.maneuvers = []
        var ended = VehicleState()
        ended.phase = .ended(.finished)
        let (first, second) = (ManeuverID(rawValue: 1), ManeuverID(rawValue: 2))
        active.maneuverEstimates[second] = TravelEstimates(distanceRemaining: .meters(5))
        var passed = active
        passed.maneuverEstimates[first] = nil
        let states = [VehicleState(), CommandTests.fullState, paused, active, passed, ended]
        var held = try Self.object(ClusterJSON.state(states[0], at: Self.time))
        for (old, new) in zip(states, states.dropFirst()) {
            let line = try #require(ClusterJSON.change(new, since: old, at: Self.time))
            for (key, value) in try Self.object(line) where key != "kind" {
                if key == "maneuverEstimates" {
                    held[key] = Self.estimates(held[key], changed: value)
                } else {
                    held[key] = value is NSNull ? nil : value
                }
            }
            let whole = try Self.object(ClusterJSON.state(new, at: Self.time))
            #expect(held as NSDictionary == whole as NSDictionary)
        }
    }

    /// Estimates by maneuver, those that have changed in the place of the old ones; without a distance there are none.
    private static func estimates(_ old: Any?, changed: Any) -> [[String: Any]] {
        let lists = [old ?? [], changed].map { $0 as? [[String: Any]] ?? [] }
        let maneuvers = (lists[0] + lists[1]).map { ($0["maneuver"] as? Int ?? 0, $0) }
        let newest = Dictionary(maneuvers) { $1 }
        return newest.sorted { $0.key < $1.key }.map(\.value).filter { $0["distanceMeters"] != nil }
    }

    @Test func `a change has only what has changed`() throws {
        var state = CommandTests.fullState
        state.currentRoadName = ["Landstrasse"]
        let line = try #require(ClusterJSON.change(state, since: CommandTests.fullState, at: Self.time))
        #expect(try Self.object(line).keys.sorted() == ["currentRoadName", "kind", "time"])
        var later = state
        later.sequence += 1
        #expect(ClusterJSON.change(later, since: state, at: Self.time) == nil)
    }
}
