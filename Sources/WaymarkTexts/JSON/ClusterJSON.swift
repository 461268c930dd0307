package import Foundation
package import WaymarkClient
internal import WaymarkModel
package import WaymarkProtocol

/// What a cluster receives, and its state, as one JSON object per line. Docs/cluster-json.md has every key.
package enum ClusterJSON {
    /// Which lines with the state are printed.
    package enum States: String, Sendable, CaseIterable { case none, changes, full, shown }

    /// Something that happened to the connection.
    package static func connection(_ state: ConnectionState, at time: Date) -> String {
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
        return JSON.line(object, at: time)
    }

    /// A message, with its content.
    package static func message(_ update: VehicleUpdate, at time: Date) -> String {
        var object: [String: Any] = [
            "kind": "message", "message": update.name, "session": Int(update.session),
            "sequence": Int(clamping: update.sequence), "fitted": update.isFitted, "more": update.hasMore,
            "fromGateway": update.isFromGateway,
        ]
        if let message = update.message { object.merge(MessageJSON.content(message)) { $1 } }
        return JSON.line(object, at: time)
    }

    /// The whole retained state; equal states at the same time give equal lines.
    package static func state(_ state: VehicleState, at time: Date) -> String {
        JSON.line(self.object(state, since: nil).merging(["kind": "state"]) { $1 }, at: time)
    }

    /// The keys of the state whose values differ from `old`; null for values that are gone. nil if there are none.
    package static func change(_ state: VehicleState, since old: VehicleState, at time: Date) -> String? {
        let object = self.object(state, since: old)
        return object.isEmpty ? nil : JSON.line(object.merging(["kind": "change"]) { $1 }, at: time)
    }

    /// The keys of the state; those whose values differ from `old`, if it is not nil.
    package static func object(_ state: VehicleState, since old: VehicleState? = nil) -> [String: Any] {
        var object = ChangedKeys(state: state, old: old)
        object.add("session", \.session) { Int($0) }
        object.add("client", \.client) { $0 }
        object.add("suspended", \.isSuspended) { $0 }
        object.add("withheld", \.withheld) { withheld in
            Dictionary(uniqueKeysWithValues: withheld.map { ($0.key.rawValue, $0.value.rawValue) })
        }
        object.add("generation", \.generation) { Int($0) }
        object.addPhase()
        object.add("previews", \.previews) { $0.map(ModelJSON.trip) }
        object.add("selectedPreview", \.selectedPreview) { $0.isEmpty ? nil : $0 }
        object.add("trip", \.trip) { $0.map(ModelJSON.trip) }
        object.add("maneuvers", \.maneuvers) { $0.map(ModelJSON.maneuver) }
        object.add("upcomingManeuvers", \.upcomingManeuvers) { ModelJSON.ids($0) }
        object.add("maneuverState", \.maneuverState) { $0.name }
        object.add("laneGuidances", \.laneGuidances) { $0.map(ModelJSON.laneGuidance) }
        object.add("currentLaneGuidance", \.currentLaneGuidance) { $0.map { Int($0.rawValue) } }
        object.add("segments", \.segments) { $0.map(ModelJSON.segment) }
        object.add("currentSegment", \.currentSegment) { $0 }
        object.addPlainStates()
        object.add("tripEstimates", \.tripEstimates) { $0.map(ModelJSON.estimates) }
        object.add("timeRemainingColor", \.timeRemainingColor) { $0.name }
        object.addManeuverEstimates()
        object.add("speedLimit", \.speedLimit) { $0.map(ModelJSON.speedLimit) }
        object.add("nextSpeedLimit", \.nextSpeedLimit) { $0.map(ModelJSON.speedLimitAhead) }
        object.add("alert", \.alert) { $0.map(ModelJSON.alert) }
        object.add("extensions", \.extensions) { extensions in
            extensions.map { ["name": $0.name, "key": Int($0.key), "content": $0.content.base64] }
        }
        return object.object
    }
}

/// Collects what differs between two states, or all of one.
struct ChangedKeys {
    let state: VehicleState
    let old: VehicleState?
    var object: [String: Any] = [:]

    /// Adds what `value` makes of a property, if that has changed.
    mutating func add<Value: Equatable>(
        _ key: String, _ property: KeyPath<VehicleState, Value>, _ value: (Value) -> Any?
    ) {
        let new = self.state[keyPath: property]
        if let old, old[keyPath: property] == new { return }
        self.set(key, value(new))
    }

    /// What has no value is null in a change, and left out of a whole state.
    private mutating func set(_ key: String, _ value: Any?) {
        if let value { self.object[key] = value } else if self.old != nil { self.object[key] = NSNull() }
    }

    /// The estimates of maneuvers. A change has those that changed, and only the maneuver of those that are gone.
    mutating func addManeuverEstimates() {
        let (new, old) = (self.state.maneuverEstimates, self.old?.maneuverEstimates ?? [:])
        guard self.old == nil || new != old else { return }
        let changed = new.filter { old[$0.key] != $0.value }.sorted { $0.key < $1.key }
        let gone = old.keys.filter { new[$0] == nil }.sorted()
        self.object["maneuverEstimates"] =
            changed.map { id, estimates in
                ModelJSON.estimates(estimates).merging(["maneuver": Int(id.rawValue)]) { $1 }
            } + gone.map { ["maneuver": Int($0.rawValue)] }
    }

    /// The phase, and what belongs to it.
    mutating func addPhase() {
        guard self.old?.phase != self.state.phase else { return }
        var (pauseReason, pauseDescription, endReason): (String?, [String]?, String?)
        switch self.state.phase {
        case .idle: self.object["phase"] = "idle"
        case .preview: self.object["phase"] = "preview"
        case .active: self.object["phase"] = "active"
        case .paused(let reason, let description):
            self.object["phase"] = "paused"
            (pauseReason, pauseDescription) = (reason.name, description)
        case .ended(let reason):
            self.object["phase"] = "ended"
            endReason = reason.word
        }
        self.set("pauseReason", pauseReason)
        self.set("pauseDescription", pauseDescription)
        self.set("endReason", endReason)
    }
}

/// The content of a message, as the keys of an object.
package enum MessageJSON {
    package static func content(_ message: Message) -> [String: Any] {
        switch message {
        case .publication(let publication): return self.content(publication)
        case .snapshotBegin(let begin):
            var object: [String: Any] = [
                "snapshot": "\(begin.kind)", "client": begin.client.rawValue,
                "clientDisplayName": begin.clientDisplayName, "suspended": begin.isSuspended,
                "receiptsEveryMilliseconds": Int(begin.receiptsEveryMilliseconds),
                "fromSequence": Int(clamping: begin.fromSequence),
                "toSequence": Int(clamping: begin.toSequence),
            ]
            object["ageMilliseconds"] = begin.ageMilliseconds.map { Int($0) }
            object["estimatesAgeMilliseconds"] = begin.estimatesAgeMilliseconds.map { Int($0) }
            object["withheld"] = Dictionary(
                begin.withheld.map { ("\($0.feature)", $0.withheld.map { "\($0)" } ?? "") }
            ) { $1 }
            return object
        case .sessionSuspended(let suspended):
            var object = ["graceMilliseconds": Int(suspended.graceMilliseconds)]
            object["ageMilliseconds"] = suspended.ageMilliseconds.map { Int($0) }
            object["estimatesAgeMilliseconds"] = suspended.estimatesAgeMilliseconds.map { Int($0) }
            return object
        case .sessionEnded(let ended):
            return ["endedSession": Int(ended.session.rawValue), "endReason": "\(ended.reason)"]
        case .prompt(let prompt):
            return [
                "requestID": prompt.requestID.rawValue, "waypoint": ModelJSON.waypoint(prompt.waypoint),
                "travelEstimates": ModelJSON.estimates(prompt.travelEstimates),
                "deadlineMilliseconds": Int(prompt.deadlineMilliseconds),
            ]
        case .promptOver(let over):
            return ["requestID": over.requestID.rawValue, "outcome": "\(over.outcome)"]
        case .requestOutcome(let outcome):
            var object: [String: Any] = [
                "requestID": outcome.requestID.rawValue, "outcome": "\(outcome.outcome)",
                "client": outcome.client?.rawValue ?? "",
            ]
            if outcome.previewFollows { object["previewFollows"] = true }
            object["cause"] = outcome.cause.map { "\($0)" }
            object["endpoint"] = outcome.endpoint?.rawValue
            return object
        case .error(let rejection):
            var content: [String: Any] = [
                "code": "\(rejection.code)", "field": rejection.field, "reason": rejection.reason,
                "requestID": rejection.requestID.rawValue,
            ]
            content.merge(ControlJSON.limit(rejection.limit)) { $1 }
            if rejection.retryAfterMilliseconds > 0 {
                content["retryAfterMilliseconds"] = Int(rejection.retryAfterMilliseconds)
            }
            return content
        default: return ControlJSON.content(message)
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
        case .shareDestination(let id, let destination, let trip):
            return ["shareID": id, "destination": ModelJSON.waypoint(destination), "trip": trip]
        case .publishExtension(let published):
            var object: [String: Any] = [
                "name": published.name.rawValue, "content": published.content.base64,
            ]
            object["key"] = published.key.map { Int($0) }
            return object
        case .speedLimit(let limit, let next):
            var object: [String: Any] = ["speedLimit": ModelJSON.speedLimit(limit)]
            object["nextSpeedLimit"] = next.map(ModelJSON.speedLimitAhead)
            return object
        case .finishGuidance, .cancelGuidance: return [:]
        case .plain(let state): return state.object
        }
    }
}
