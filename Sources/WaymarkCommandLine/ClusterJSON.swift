internal import Foundation
internal import WaymarkClient
internal import WaymarkModel

/// What a cluster received and holds, as one JSON object per line. Docs/cluster-json.md has every key.
enum ClusterJSON {
    /// A message.
    static func update(_ update: VehicleUpdate) -> String {
        self.line([
            "kind": "message", "message": update.name, "session": Int(update.session),
            "sequence": Int(update.sequence),
            "fitted": update.isFitted, "fromGateway": update.isFromGateway,
        ])
    }

    /// The whole retained state; equal states give equal lines.
    static func state(_ state: VehicleState) -> String {
        var object: [String: Any] = [
            "kind": "state", "phase": self.phase(state.phase), "session": Int(state.session),
            "client": state.client,
            "suspended": state.isSuspended, "generation": Int(state.generation),
            "maneuvers": state.maneuvers.map(self.maneuver),
            "upcomingManeuvers": state.upcomingManeuvers.map { Int($0.rawValue) },
            "laneGuidances": state.laneGuidances.map { Int($0.id.rawValue) },
            "currentLaneGuidance": Int(state.currentLaneGuidance?.rawValue ?? 0),
            "segments": state.segments.map {
                ["id": $0.id, "points": $0.coordinates.count] as [String: Any]
            },
            "currentSegment": state.currentSegment ?? "", "currentRoadName": state.currentRoadName,
            "maneuverState": "\(state.maneuverState)", "withheld": state.withheld,
        ]
        if let trip = state.trip {
            object["trip"] = [
                "id": trip.id, "destination": self.waypoint(trip.destination),
                "waypoints": trip.waypoints.map(self.waypoint),
            ]
        }
        if let estimates = state.tripEstimates { object["tripEstimates"] = self.estimates(estimates) }
        if let id = state.upcomingManeuvers.first, let estimates = state.maneuverEstimates[id] {
            object["maneuverEstimates"] = self.estimates(estimates)
        }
        if let alert = state.alert { object["alert"] = alert.titleVariants.first ?? "" }
        return self.line(object)
    }

    /// Something that happened to the connection.
    static func connection(_ state: String) -> String { self.line(["kind": "connection", "state": state]) }

    static func line(_ object: [String: Any]) -> String {
        do {
            let data = try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        } catch {
            preconditionFailure("only plain values are written: \(error)")
        }
    }

    private static func phase(_ phase: VehicleState.Phase) -> String {
        switch phase {
        case .idle: "idle"
        case .preview: "preview"
        case .active: "active"
        case .paused(let reason, _): "paused \(reason)"
        case .ended(let reason): "ended \(reason)"
        }
    }

    static func maneuver(_ maneuver: Maneuver) -> [String: Any] {
        [
            "id": Int(maneuver.id.rawValue), "type": "\(maneuver.type)",
            "rawType": Int(maneuver.type.rawValue),
            "instruction": maneuver.instructionVariants.first ?? "",
            "road": maneuver.roadFollowingManeuverVariants.first ?? "",
            "exitLabel": maneuver.highwayExitLabel,
        ]
    }

    private static func waypoint(_ waypoint: Waypoint) -> [String: Any] {
        [
            "latitude": waypoint.center.latitude, "longitude": waypoint.center.longitude,
            "name": waypoint.nameVariants.first ?? "",
        ]
    }

    private static func estimates(_ estimates: TravelEstimates) -> [String: Any] {
        var object: [String: Any] = ["meters": Int(estimates.distanceRemaining.meters)]
        if let time = estimates.timeRemaining { object["seconds"] = Int(time.components.seconds) }
        return object
    }
}
