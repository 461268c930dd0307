internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol

/// What a cluster receives and holds, as one JSON object per line. Docs/cluster-json.md has every key.
enum ClusterJSON {
    /// Something that happened to the connection.
    static func connection(_ state: ConnectionState) -> String {
        var object: [String: Any] = ["kind": "connection"]
        switch state {
        case .connecting: object["state"] = "connecting"
        case .connected(let resumed):
            object["state"] = "connected"
            object["resumed"] = resumed
        case .closed(let error):
            object["state"] = "closed"
            object["reason"] = "\(error)"
        }
        return JSON.line(object)
    }

    /// A message, with its content.
    static func message(_ update: VehicleUpdate) -> String {
        var object: [String: Any] = [
            "kind": "message", "message": update.name, "session": Int(update.session),
            "sequence": Int(update.sequence), "fitted": update.isFitted, "fromGateway": update.isFromGateway,
        ]
        if let message = update.message { object.merge(MessageJSON.content(message)) { $1 } }
        return JSON.line(object)
    }

    /// The whole retained state; equal states give equal lines.
    static func state(_ state: VehicleState) -> String {
        var object: [String: Any] = [
            "kind": "state", "session": Int(state.session), "client": state.client,
            "suspended": state.isSuspended, "generation": Int(state.generation),
            "previews": state.previews.map(ModelJSON.trip),
            "maneuvers": state.maneuvers.map(ModelJSON.maneuver),
            "upcomingManeuvers": ModelJSON.ids(state.upcomingManeuvers),
            "maneuverState": state.maneuverState.name,
            "laneGuidances": state.laneGuidances.map(ModelJSON.laneGuidance),
            "segments": state.segments.map(ModelJSON.segment), "currentRoadName": state.currentRoadName,
            "timeRemainingColor": state.timeRemainingColor.name, "withheld": state.withheld,
            "maneuverEstimates": state.maneuverEstimates.sorted { $0.key < $1.key }.map { id, estimates in
                ModelJSON.estimates(estimates).merging(["maneuver": Int(id.rawValue)]) { $1 }
            },
        ]
        switch state.phase {
        case .idle: object["phase"] = "idle"
        case .preview: object["phase"] = "preview"
        case .active: object["phase"] = "active"
        case .paused(let reason, let description):
            object["phase"] = "paused"
            object["pauseReason"] = reason.name
            object["pauseDescription"] = description
        case .ended(let reason):
            object["phase"] = "ended"
            object["endReason"] = "\(reason)"
        }
        object.set("trip", state.trip.map(ModelJSON.trip))
        object.set("currentLaneGuidance", state.currentLaneGuidance.map { Int($0.rawValue) })
        object.set("currentSegment", state.currentSegment)
        object.set("tripEstimates", state.tripEstimates.map(ModelJSON.estimates))
        object.set("alert", state.alert.map(ModelJSON.alert))
        return JSON.line(object)
    }
}

/// What a message says, as the keys of an object.
enum MessageJSON {
    static func content(_ message: Message) -> [String: Any] {
        switch message {
        case .publication(let publication): return self.content(publication)
        case .snapshotBegin(let begin):
            var object: [String: Any] = [
                "snapshot": "\(begin.kind)", "client": begin.client.rawValue,
                "clientDisplayName": begin.clientDisplayName, "suspended": begin.isSuspended,
                "receiptsEveryMilliseconds": Int(begin.receiptsEveryMilliseconds),
            ]
            object["withheld"] = Dictionary(
                begin.withheld.map { ("\($0.feature)", $0.withheld.map { "\($0)" } ?? "") }
            ) { $1 }
            return object
        case .sessionSuspended(let grace): return ["graceMilliseconds": Int(grace)]
        case .sessionEnded(let ended):
            return ["endedSession": Int(ended.session.rawValue), "endReason": "\(ended.reason)"]
        case .prompt(let prompt):
            return [
                "requestID": prompt.requestID, "waypoint": ModelJSON.waypoint(prompt.waypoint),
                "travelEstimates": ModelJSON.estimates(prompt.travelEstimates),
                "deadlineMilliseconds": Int(prompt.deadlineMilliseconds),
            ]
        case .promptOver(let over): return ["requestID": over.requestID, "outcome": "\(over.outcome)"]
        case .requestOutcome(let outcome):
            return [
                "requestID": outcome.requestID, "outcome": "\(outcome.outcome)",
                "client": outcome.client?.rawValue ?? "",
            ]
        case .error(let rejection):
            return [
                "code": "\(rejection.code)", "field": rejection.field, "reason": rejection.reason,
                "requestID": rejection.requestID,
            ]
        default: return [:]  // Says no more than its name, or never comes to a vehicle.
        }
    }

    private static func content(_ publication: Publication) -> [String: Any] {
        switch publication {
        case .tripPreviews(let trips, let selected):
            return ["trips": trips.map(ModelJSON.trip), "selected": selected]
        case .startGuidance(let trip, let generation, let route):
            return ["trip": ModelJSON.trip(trip), "generation": Int(generation)]
                .merging(ModelJSON.information(route)) { $1 }
        case .updateTrip(let trip): return ["trip": ModelJSON.trip(trip)]
        case .addManeuvers(let added, let generation):
            return ["maneuvers": added.map(ModelJSON.maneuver), "generation": Int(generation)]
        case .addLaneGuidances(let added, let generation):
            return ["laneGuidances": added.map(ModelJSON.laneGuidance), "generation": Int(generation)]
        case .addRouteSegments(let added, let generation):
            return ["segments": added.map(ModelJSON.segment), "generation": Int(generation)]
        case .upcomingManeuvers(let ids, let generation):
            return ["upcomingManeuvers": ModelJSON.ids(ids), "generation": Int(generation)]
        case .currentLaneGuidance(let id, let generation):
            return ["currentLaneGuidance": Int(id?.rawValue ?? 0), "generation": Int(generation)]
        case .currentRoadName(let variants): return ["currentRoadName": variants]
        case .maneuverState(let state, let generation):
            return ["maneuverState": state.name, "generation": Int(generation)]
        case .tripEstimates(let estimates, let color):
            return ["tripEstimates": ModelJSON.estimates(estimates), "timeRemainingColor": color.name]
        case .maneuverEstimates(let id, let estimates, let generation):
            return [
                "maneuver": Int(id.rawValue), "travelEstimates": ModelJSON.estimates(estimates),
                "generation": Int(generation),
            ]
        case .currentRouteSegment(let id, let generation):
            return ["currentSegment": id, "generation": Int(generation)]
        case .pauseGuidance(let reason, let description):
            return ["pauseReason": reason.name, "pauseDescription": description]
        case .resumeGuidance(let generation, let reason, let route):
            return ["generation": Int(generation), "rerouteReason": reason.name]
                .merging(route.map(ModelJSON.information) ?? [:]) { $1 }
        case .showAlert(let alert): return ["alert": ModelJSON.alert(alert)]
        case .dismissAlert(let alert, let dismissal):
            return ["alertID": Int(alert), "dismissal": dismissal.name]
        case .shareDestination(let id, let destination):
            return ["shareID": id, "destination": ModelJSON.waypoint(destination)]
        case .finishGuidance, .cancelGuidance: return [:]
        }
    }
}
