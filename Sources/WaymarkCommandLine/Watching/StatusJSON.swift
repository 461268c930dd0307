internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

/// `waymark status` as one JSON object. Docs/cluster-json.md has every key.
enum StatusJSON {
    static func line(_ report: StatusReport) -> String {
        let snapshot = report.snapshot
        var object: [String: Any] = [
            "kind": "status", "address": "\(report.address)",
            "gateway": [
                "instance": snapshot.gateway.instance, "software": snapshot.gateway.software,
                "start": JSON.time(snapshot.gateway.start), "showsContent": snapshot.gateway.showsContent,
            ] as [String: Any],
            "counters": self.counters(report.counters),
            "vehicles": snapshot.vehicles.map { self.object($0, report) },
            "clients": snapshot.clients.map { self.object($0, report) },
            "sessions": snapshot.sessions.map { self.object($0, report) },
            "requests": snapshot.requests.map(self.object),
        ]
        object.set("framesPerSecond", report.framesPerSecond)
        object.set("deliveriesPerSecond", report.deliveriesPerSecond)
        return JSON.line(object, at: report.counters.time)
    }

    /// By name; those with labels by name and label.
    private static func counters(_ counters: GatewayCounters) -> [String: Any] {
        var object: [String: Any] = [:]
        for value in counters.values {
            if value.label.isEmpty {
                object[value.name] = Int(clamping: value.value)
            } else {
                let labels = object[value.name] as? [String: Int] ?? [:]
                object[value.name] = labels.merging([value.label: Int(clamping: value.value)]) { $1 }
            }
        }
        return object
    }

    private static func object(_ vehicle: GatewaySnapshot.Vehicle, _ report: StatusReport) -> [String: Any] {
        var object: [String: Any] = [
            "vehicle": vehicle.id, "session": Int(vehicle.session),
            "navigatesItself": vehicle.navigatesItself,
            "hasStopped": vehicle.hasStopped, "guidanceWanted": vehicle.isGuidanceWanted,
            "owner": vehicle.owner,
        ]
        object.set("routeSource", vehicle.routeSource?.name)
        object.set("routeFeedback", vehicle.routeFeedback.map(ModelJSON.feedback))
        object["endpoints"] = vehicle.endpoints.map { endpoint -> [String: Any] in
            var object: [String: Any] = [
                "endpoint": endpoint.name, "ready": endpoint.isReady,
                "features": endpoint.features.map(\.rawValue).sorted(),
                "withheld": Dictionary(
                    uniqueKeysWithValues: endpoint.withheld.map { ($0.key.rawValue, $0.value.rawValue) }),
            ]
            self.add(
                endpoint.presence, "\(vehicle.id)/\(endpoint.name)", report, to: &object)
            object.set("received", endpoint.receipt.map { Int(clamping: $0.received) })
            object.set("shown", endpoint.receipt.map { Int(clamping: $0.shown) })
            object.set("receivedDelays", endpoint.receivedDelays.map(self.object))
            object.set("shownDelays", endpoint.shownDelays.map(self.object))
            object.set("roundTripMicroseconds", endpoint.roundTrip.map { Int($0 / .microseconds(1)) })
            return object
        }
        return object
    }

    private static func object(_ delays: GatewaySnapshot.Delays) -> [String: Any] {
        [
            "count": Int(clamping: delays.count), "lastMicroseconds": Int(delays.last / .microseconds(1)),
            "meanMicroseconds": Int(delays.mean / .microseconds(1)),
            "counts": Dictionary(
                uniqueKeysWithValues: delays.counts.map {
                    ($0.bound.map { "\(Int($0 / .milliseconds(1)))" } ?? "longer", Int(clamping: $0.count))
                }),
        ]
    }

    private static func object(_ client: GatewaySnapshot.Client, _ report: StatusReport) -> [String: Any] {
        var object: [String: Any] = [
            "client": client.id, "displayName": client.displayName, "priority": Int(client.priority),
            "owner": client.owner, "features": client.features.map(\.rawValue).sorted(),
        ]
        self.add(client.presence, client.id, report, to: &object)
        return object
    }

    private static func add(
        _ presence: GatewaySnapshot.Presence, _ peer: String, _ report: StatusReport,
        to object: inout [String: Any]
    ) {
        switch presence {
        case .connected(let since):
            object["connected"] = true
            object["since"] = JSON.time(since)
        case .away(let until):
            object["connected"] = false
            object["until"] = JSON.time(until)
        }
        object.set("waitingBytes", report.waitingBytes(peer, presence).map { Int(clamping: $0) })
        object.set("conflated", report.connections[peer].map { Int(clamping: $0.conflated) })
    }

    private static func object(_ session: GatewaySnapshot.Session, _ report: StatusReport) -> [String: Any] {
        var object: [String: Any] = [
            "session": Int(session.id), "client": session.client, "phase": session.phase.rawValue,
            "suspended": session.isSuspended, "generation": Int(session.generation),
            "anyThatAsked": session.isForAnyThatAsked,
            "optedOut": session.optedOut.map(\.rawValue).sorted(),
        ]
        object.set("alertID", session.alert.map { Int($0) })
        object.set("framesPerSecond", report.framesPerSecond(of: session.id))
        if let measure = report.sessions[session.id] {
            object["sequence"] = Int(clamping: measure.sequence)
            object["retainedBytes"] = Int(clamping: measure.retainedBytes)
            object["replayBytes"] = Int(clamping: measure.replayBytes)
            object.set("ageMilliseconds", measure.age.map { Int($0 / .milliseconds(1)) })
        }
        return object
    }

    private static func object(_ request: GatewaySnapshot.Request) -> [String: Any] {
        [
            "requestID": request.id, "vehicle": request.vehicle, "request": request.kind.rawValue,
            "client": request.client, "session": Int(request.session), "stage": request.stage.rawValue,
            "deadline": JSON.time(request.deadline),
        ]
    }
}
