internal import Foundation
package import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol

/// What an observer is told, as one JSON object per line. Docs/cluster-json.md has every key.
package enum ObservedJSON {
    /// `more`: what else is known.
    package static func line(_ update: GatewayUpdate, _ more: [String: Any] = [:]) -> String {
        JSON.line(self.object(update).merging(more) { $1 }, at: update.time)
    }

    /// The same without the time.
    package static func object(_ update: GatewayUpdate) -> [String: Any] {
        var object: [String: Any]
        switch update.content {
        case .event(let event): object = self.object(event)
        case .frame(let frame): object = self.object(frame)
        case .dropped(let count): object = ["kind": "dropped", "count": Int(clamping: count)]
        case .synchronized(let snapshot):
            object = ["kind": "synchronized", "instance": snapshot.gateway.instance]
        case .missed(let count): object = ["kind": "dropped", "count": count]
        }
        object["number"] = Int(clamping: update.number)
        return object
    }

    private static func object(_ event: GatewayEvent) -> [String: Any] {
        var object: [String: Any] = [
            "kind": "event", "event": event.kind.rawValue, "vehicles": event.vehicles,
            "session": Int(event.session), "code": Int(event.code),
        ]
        object.set(nonEmpty: "codeName", event.codeName)
        object.set(nonEmpty: "client", event.client)
        object.set(nonEmpty: "peer", event.peer)
        object.set(nonEmpty: "requestID", event.requestID)
        object.set(nonEmpty: "reason", event.reason)
        return object
    }

    private static func object(_ frame: ObservedFrame) -> [String: Any] {
        var object: [String: Any] = [
            "kind": "frame", "message": frame.name, "session": Int(frame.session),
            "sequence": Int(clamping: frame.sequence), "fitted": frame.isFitted, "more": frame.hasMore,
            "fromGateway": frame.isFromGateway, "redacted": frame.isRedacted, "rejected": frame.isRejected,
            "bytes": frame.bytes.count,
        ]
        switch frame.way {
        case .from(let peer): object["from"] = peer
        case .to(let peers): object["to"] = peers
        }
        if let message = frame.message { object.merge(MessageJSON.content(message)) { $1 } }
        return object
    }
}

/// The content of messages that never come to a vehicle.
enum ControlJSON {
    /// The limit that an Error or a Goodbye names; nothing if it names none.
    static func limit(_ limit: ReachedLimit?) -> [String: Any] {
        limit.map { ["limit": $0.name, "limitValue": Int(clamping: $0.value)] } ?? [:]
    }

    private static func content(_ goodbye: Goodbye) -> [String: Any] {
        let content: [String: Any] = [
            "code": "\(goodbye.code)", "reason": goodbye.reason,
            "reconnectAfterMilliseconds": Int(goodbye.reconnectAfterMilliseconds),
        ]
        return content.merging(self.limit(goodbye.limit)) { $1 }
    }

    static func content(_ message: Message) -> [String: Any] {
        switch message {
        case .hello(let hello): self.content(hello)
        case .welcome(let welcome):
            [
                "resumed": welcome.isResumed, "software": welcome.software,
                "instance": welcome.gateway.instance.rawValue, "epoch": Int(clamping: welcome.gateway.epoch),
                "keepaliveMilliseconds": Int(welcome.keepaliveMilliseconds),
                "receiveFrameBytesMax": Int(welcome.receiveFrameBytesMax),
                "sendFrameBytesMax": Int(welcome.sendFrameBytesMax),
                "withheld": self.withheld(welcome.features),
            ]
        case .goodbye(let goodbye): self.content(goodbye)
        case .openSession(let opening): self.content(opening)
        case .sessionOpened(let opened):
            [
                "requestID": opened.requestID.rawValue, "openedSession": Int(opened.session.rawValue),
                "vehicles": opened.vehicles.map(self.content),
            ]
        case .vehicleChanged(let status): self.content(status)
        case .receipt(let receipt): self.object(receipt)
        case .receiptReport(let report):
            [
                "gatewaySequence": Int(clamping: report.gatewaySequence),
                "receipts": report.endpoints.map(self.object),
            ]
        case .acknowledgement(let sequence): ["acknowledged": Int(clamping: sequence)]
        default: self.content(ofRequest: message)
        }
    }

    private static func object(_ receipt: Receipt) -> [String: Any] {
        var object: [String: Any] = [
            "received": Int(clamping: receipt.receivedSequence),
            "shown": Int(clamping: receipt.shownSequence),
        ]
        object.set("receivedNanoseconds", receipt.receivedNanoseconds.map { Int(clamping: $0) })
        object.set("shownNanoseconds", receipt.shownNanoseconds.map { Int(clamping: $0) })
        return object
    }

    private static func object(_ endpoint: EndpointReceipt) -> [String: Any] {
        var object = self.object(endpoint.receipt)
        object["vehicle"] = endpoint.vehicle.rawValue
        object["endpoint"] = endpoint.endpoint.rawValue
        object.set(
            "receivedDelayMicroseconds", endpoint.receivedDelayMicroseconds.map { Int(clamping: $0) })
        object.set("shownDelayMicroseconds", endpoint.shownDelayMicroseconds.map { Int(clamping: $0) })
        return object
    }

    private static func content(ofRequest message: Message) -> [String: Any] {
        switch message {
        case .waypointRequest(let request):
            return self.with(
                request.vehicle,
                [
                    "requestID": request.requestID.rawValue, "waypoint": ModelJSON.waypoint(request.waypoint),
                    "segment": request.segment.rawValue,
                ])
        case .destinationRequest(let request):
            return self.with(
                request.vehicle,
                [
                    "requestID": request.requestID.rawValue,
                    "destination": ModelJSON.waypoint(request.destination),
                ])
        case .startTripRequest(let request):
            var object = self.with(
                request.vehicle, ["requestID": request.requestID.rawValue, "trip": request.trip.rawValue])
            object.set("routeChoice", request.routeChoice.map { Int($0) })
            return object
        case .selectPreview(let selection):
            var object = self.with(selection.source, ["trip": selection.trip.rawValue])
            object.set("routeChoice", selection.routeChoice.map { Int($0) })
            return object
        case .withdrawRequest(let request): return ["requestID": request.requestID.rawValue]
        case .requestAnswer(let answer):
            return self.content(answer.answer).merging([
                "requestID": answer.requestID.rawValue, "vehicle": answer.vehicle.rawValue,
            ]) { $1 }
        case .promptAnswer(let answer):
            return ["requestID": answer.requestID.rawValue, "accepted": answer.isAccepted]
        case .cancelNavigation(let reason): return ["cancelReason": "\(reason)"]
        case .updateRouteSource(let update):
            return self.with(update.vehicle, ["routeSource": update.routeSource.name])
        case .vehicleSettings(let settings): return self.content(settings)
        case .zoomCluster(let zoom):
            return self.with(zoom.source, ["zoomDirection": zoom.direction.name])
        case .alertResponse(let response): return self.content(response)
        case .destinationShareWanted(let wanted):
            return self.with(wanted.source, ["trip": wanted.trip.rawValue])
        case .updateRouteFeedback(let update):
            return self.with(update.vehicle, ModelJSON.feedback(update.feedback))
        case .vehicleExtension(let sent):
            return self.with(
                sent.source, ["name": sent.name.rawValue, "content": sent.content.base64])
        case .simulateDrive(let asked):
            var object: [String: Any] = ["simulationAction": asked.action.name]
            object["speedPercent"] = asked.speedPercent == 0 ? nil : asked.speedPercent
            object["client"] = asked.client?.rawValue
            object["vehicle"] = asked.vehicle?.rawValue
            object["endpoint"] = asked.endpoint?.rawValue
            return object
        case .destinationShareAnswer(let answer):
            return ["shareID": answer.shareID.rawValue, "outcome": "\(answer.outcome)"]
        case .destinationShareStatus(let status): return self.content(status)
        default: return [:]  // Says no more than its name.
        }
    }

    private static func content(_ hello: Hello) -> [String: Any] {
        var object: [String: Any] = ["software": hello.software, "displayName": hello.displayName]
        switch hello.role {
        case .vehicle(let vehicle):
            object["role"] = "vehicle"
            object["vehicle"] = vehicle.vehicle.rawValue
            object["endpoint"] = vehicle.endpoint.rawValue
            object["features"] = vehicle.features.map { "\($0)" }
            object["guidanceWanted"] = vehicle.guidanceWanted
        case .navigation(let client):
            object["role"] = "navigation"
            object["client"] = client.client.rawValue
            object["features"] = client.features.map { "\($0)" }
            object["priority"] = Int(client.priority)
        case .observer(let observer):
            object["role"] = "observer"
            object["observer"] = observer.observer.rawValue
        }
        return object
    }

    private static func content(_ opening: OpenSession) -> [String: Any] {
        var object: [String: Any] = [
            "requestID": opening.requestID.rawValue,
            "receiptsEveryMilliseconds": Int(opening.receiptsEveryMilliseconds),
        ]
        switch opening.vehicles {
        case .vehicles(let ids): object["vehicles"] = ids.map(\.rawValue)
        case .anyThatAsked: object["anyThatAsked"] = true
        }
        return object
    }

    private static func content(_ status: VehicleStatus) -> [String: Any] {
        var object: [String: Any] = [
            "vehicle": status.vehicle.rawValue,
            "endpoints": status.endpoints.map { endpoint -> [String: Any] in
                [
                    "endpoint": endpoint.endpoint.rawValue, "ready": endpoint.isReady,
                    "locale": endpoint.locale, "withheld": self.withheld(endpoint.withheld),
                ]
            },
        ]
        switch status.standing {
        case .joined: object["standing"] = "joined"
        case .awaited: object["standing"] = "awaited"
        case .refused(let code):
            object["standing"] = "refused"
            object["code"] = "\(code)"
        case .left(let reason):
            object["standing"] = "left"
            object["endReason"] = "\(reason)"
        }
        return object
    }

    private static func content(_ answer: RequestAnswer.Answer) -> [String: Any] {
        switch answer {
        case .estimates(let estimates):
            ["answer": "estimates", "travelEstimates": ModelJSON.estimates(estimates)]
        case .ownPrompt: ["answer": "ownPrompt"]
        case .accept: ["answer": "accept"]
        case .acceptWithPreview: ["answer": "acceptWithPreview"]
        case .decline(let outcome): ["answer": "decline", "outcome": "\(outcome)"]
        }
    }

    private static func content(_ settings: VehicleSettings) -> [String: Any] {
        var object: [String: Any] = [:]
        object.set("compass", settings.compass?.name)
        object.set("speedLimit", settings.speedLimit?.name)
        object.set("contentStyle", settings.contentStyle?.name)
        object.set("limitedUserInterfaces", settings.limitedUserInterfaces.map { Int($0) })
        object.set("ready", settings.isReadyToShow)
        return self.with(settings.source, object)
    }

    private static func content(_ response: AlertResponse) -> [String: Any] {
        var object: [String: Any] = ["alertID": Int(response.alert)]
        switch response.response {
        case .dismissed(let dismissal): object["dismissal"] = dismissal.name
        case .action(let action): object["action"] = Int(action)
        }
        return self.with(response.source, object)
    }

    private static func content(_ status: DestinationShareStatus) -> [String: Any] {
        var object: [String: Any] = [
            "shareID": status.shareID.rawValue, "vehicle": status.vehicle.rawValue,
        ]
        switch status.stage {
        case .willShare: object["stage"] = "willShare"
        case .didShare: object["stage"] = "didShare"
        case .didFailToShare(let outcome):
            object["stage"] = "didFailToShare"
            object["outcome"] = "\(outcome)"
        }
        return object
    }

    private static func with(_ vehicle: VehicleID?, _ object: [String: Any]) -> [String: Any] {
        var object = object
        object.set("vehicle", vehicle?.rawValue)
        return object
    }

    private static func with(_ source: EndpointPath?, _ object: [String: Any]) -> [String: Any] {
        var object = self.with(source?.vehicle, object)
        object.set("endpoint", source?.endpoint.rawValue)
        return object
    }

    private static func withheld(_ grants: [FeatureGrant]) -> [String: String] {
        Dictionary(
            grants.compactMap { grant in grant.withheld.map { ("\(grant.feature)", "\($0)") } }
        ) { $1 }
    }
}
