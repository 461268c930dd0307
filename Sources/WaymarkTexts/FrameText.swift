package import WaymarkClient
package import WaymarkHistory
internal import WaymarkModel
package import WaymarkProtocol

/// What a frame says, in a few words, for people who watch a gateway.
package struct FrameText {
    /// Names and places were removed, so that they cannot be printed.
    let isRedacted: Bool

    /// The message's name as in the protocol's page, its number or the id that it has, and what it says. `isShort`: for a narrow line.
    package static func text(_ frame: ObservedFrame, isShort: Bool = false) -> String {
        var title =
            frame.type.map { isShort ? self.shortTitle($0) : $0.title } ?? "unknown type \(frame.name)"
        if frame.sequence > 0 { title += " \(frame.sequence)" }
        let text = FrameText(isRedacted: frame.isRedacted)
        var parts = [frame.message.map(text.content) ?? "not readable"]
        if frame.type == nil { parts = ["\(frame.bytes.count) bytes"] }
        if frame.isFitted { parts.append("cut to its limits") }
        if frame.hasMore { parts.append("a part, more follow") }
        if frame.isRejected { parts.append("rejected") }
        return self.joined(title, parts)
    }

    /// The name without the word that many names begin with.
    package static func shortTitle(_ type: MessageType) -> String {
        for word in ["Update", "Current"] where type.title.hasPrefix(word) && type.title != "UpdateTrip" {
            return String(type.title.dropFirst(word.count))
        }
        return type.title
    }

    /// The same of a frame in a history.
    package static func text(_ crossed: CrossedFrame) -> String {
        let header = crossed.frame.header
        var title = header.type?.title ?? "unknown type \(self.number(header.rawType))"
        if header.sequence > 0 { title += " \(header.sequence)" }
        var parts = [crossed.message.map(FrameText(isRedacted: false).content) ?? "not readable"]
        if header.type == nil { parts = ["\(crossed.frame.bytes.count) bytes"] }
        if let rejection = crossed.rejection {
            parts = ["rejected: \(rejection.code) \(rejection.field) \(rejection.reason)"]
        }
        if header.flags.contains(.fitted) { parts.append("cut to its limits") }
        if header.flags.contains(.more) { parts.append("a part, more follow") }
        switch crossed.delivery {
        case .whole: break
        case .corrupted: parts.append("changed on its way")
        case .dropped: parts.append("lost on its way")
        }
        return self.joined(title, parts)
    }

    private static func number(_ type: UInt16) -> String {
        let digits = String(type, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func joined(_ title: String, _ parts: [String]) -> String {
        let parts = parts.filter { !$0.isEmpty }
        return parts.isEmpty ? title : "\(title): \(parts.joined(separator: ", "))"
    }

    private func content(_ message: Message) -> String {
        switch message {
        case .publication(let publication): self.detail(publication)
        case .hello(let hello): self.detail(hello)
        case .welcome(let welcome): welcome.isResumed ? "resumed" : ""
        case .goodbye(let goodbye): self.sentence("\(goodbye.code)", goodbye.reason)
        case .error(let error):
            self.sentence(
                error.field.isEmpty ? "\(error.code)" : "\(error.code) \(error.field)", error.reason)
        case .openSession(let opening): self.detail(opening.vehicles)
        case .sessionOpened(let opened): "session \(opened.session.rawValue)"
        case .vehicleChanged(let status): "\(status.vehicle)"
        case .sessionEnded(let ended): "session \(ended.session.rawValue), \(ended.reason)"
        case .snapshotBegin(let begin): self.detail(begin)
        case .sessionSuspended(let suspended): "for up to \(suspended.graceMilliseconds / 1_000) s"
        case .receipt(let receipt):
            "received \(receipt.receivedSequence), shown \(receipt.shownSequence)"
        case .receiptReport(let report):
            self.counted(report.endpoints.count, "endpoint") + self.slowest(of: report)
        case .acknowledgement(let sequence): "up to \(sequence)"
        case .ping, .pong, .snapshotEnd, .sessionRestored, .allowNavigation: ""
        case .observe, .observationBegin, .observedRecords, .observedEvent, .observedFrames, .observationGap,
            .readCounters, .counters:
            ""
        default: self.detail(ofRequest: message)
        }
    }

    /// The longest delay until the content was on a display.
    private func slowest(of report: ReceiptReport) -> String {
        guard let slowest = report.endpoints.compactMap(\.shownDelayMicroseconds).max() else { return "" }
        return ", shown after \(slowest / 1_000) ms"
    }

    /// What vehicles ask and answer.
    private func detail(ofRequest message: Message) -> String {
        switch message {
        case .waypointRequest(let request): self.sentence(request.requestID, self.name(request.waypoint))
        case .destinationRequest(let request):
            self.sentence(request.requestID, self.name(request.destination))
        case .startTripRequest(let request):
            self.sentence(request.requestID, Self.detail(request.trip, request.routeChoice))
        case .selectPreview(let selection): Self.detail(selection.trip, selection.routeChoice)
        case .withdrawRequest(let request): request.requestID.rawValue
        case .requestAnswer(let answer): self.sentence(answer.requestID, self.detail(answer.answer))
        case .prompt(let prompt):
            self.sentence(
                prompt.requestID,
                [
                    self.name(prompt.waypoint), Story.estimates(prompt.travelEstimates),
                    "\(prompt.deadlineMilliseconds / 1_000) s to answer",
                ].filter { !$0.isEmpty }.joined(separator: ", "))
        case .promptAnswer(let answer): self.sentence(answer.requestID, answer.isAccepted ? "yes" : "no")
        case .promptOver(let over): self.sentence(over.requestID, "\(over.outcome)")
        case .requestOutcome(let outcome):
            self.sentence(
                outcome.requestID,
                [
                    "\(outcome.outcome)", outcome.cause.map { "\($0)" }, outcome.endpoint?.rawValue,
                    outcome.previewFollows ? "previews follow" : nil,
                ].compactMap(\.self).joined(separator: ", "))
        case .cancelNavigation(let reason): "\(reason)"
        case .updateRouteSource(let update): update.routeSource.name
        case .vehicleSettings(let settings): Self.detail(settings)
        case .zoomCluster(let zoom): zoom.direction.name
        case .alertResponse(let response): Self.detail(response)
        case .destinationShareAnswer(let answer): self.sentence(answer.shareID, "\(answer.outcome)")
        case .vehicleExtension(let sent):
            self.sentence("\(sent.name)", self.counted(sent.content.count, "byte"))
        case .simulateDrive(let asked): self.sentence(asked.action.name, Self.speed(asked))
        case .destinationShareWanted(let wanted):
            wanted.trip.isEmpty ? "of the trip that is driven" : "of trip \(wanted.trip)"
        case .updateRouteFeedback(let update): Story.feedback(update.feedback)
        case .destinationShareStatus(let status):
            self.sentence(status.shareID, Self.detail(status.stage, status.vehicle))
        default: ""  // Said above.
        }
    }

    /// "at 20 times the speed"; empty for the real one.
    private static func speed(_ asked: SimulateDrive) -> String {
        guard asked.action == .start, asked.speedPercent != 0, asked.speedPercent != 100 else { return "" }
        return "at \(asked.speedPercent) % of the speed"
    }

    private func detail(_ publication: Publication) -> String {
        switch publication {
        case .tripPreviews(let trips, _): self.counted(trips.count, "trip")
        case .startGuidance(let trip, _, let route): self.joined(self.way(trip), self.size(route))
        case .updateTrip(let trip): self.joined(self.way(trip), self.counted(trip.waypoints.count, "stop"))
        case .addManeuvers(let added, _): self.counted(added)
        case .addLaneGuidances(let added, _): self.counted(added.count, "lane guidance")
        case .addRouteSegments(let added, _): self.counted(added.count, "segment")
        case .upcomingManeuvers(let ids, _):
            ids.first.map { "maneuver \($0.rawValue) is next" } ?? "none"
        case .currentLaneGuidance(let id, _): id.map { "\($0.rawValue)" } ?? "none"
        case .maneuverState(let state, _): state.name
        case .tripEstimates(let estimates, _): Story.estimates(estimates)
        case .maneuverEstimates(let id, let estimates, _):
            "maneuver \(id.rawValue) in \(Story.estimates(estimates))"
        case .currentRouteSegment(let id, _): id
        case .pauseGuidance(let reason, let description):
            self.joined(reason.name, description.first ?? "")
        case .resumeGuidance(_, let reason, let route):
            route.map { self.joined("another route, \(reason.name)", self.size($0)) } ?? "the same route"
        case .showAlert(let alert):
            self.sentence(
                ["\(alert.id)", alert.priority?.name, alert.notification?.name].compactMap(\.self).joined(
                    separator: ", "), alert.titleVariants.first ?? "")
        case .dismissAlert(let alert, let dismissal): "\(alert), \(dismissal.name)"
        case .shareDestination(let id, let destination, let trip):
            self.sentence(
                Identifier(id), self.joined(self.name(destination), trip.isEmpty ? "" : "of trip \(trip)"))
        case .publishExtension(let published):
            self.sentence(
                "\(published.name)",
                self.joined(
                    published.key.map { "key \($0)" } ?? "", self.counted(published.content.count, "byte")))
        case .speedLimit(let limit, let next):
            self.joined(
                GuidanceText.speedLimit(limit),
                next.map { "\(GuidanceText.speedLimit($0.limit)) in \(GuidanceText.distance($0))" } ?? "")
        case .finishGuidance, .cancelGuidance: ""
        case .plain(let state): state.details.filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }

    private func detail(_ hello: Hello) -> String {
        switch hello.role {
        case .vehicle(let vehicle): "vehicle \(vehicle.vehicle), endpoint \(vehicle.endpoint)"
        case .navigation(let client): "client \(client.client)"
        case .observer(let observer): "observer \(observer.observer)"
        }
    }

    private func detail(_ vehicles: VehicleSelection) -> String {
        switch vehicles {
        case .vehicles(let ids): GuidanceText.some(ids.map(\.rawValue))
        case .anyThatAsked: "any vehicle that asked"
        }
    }

    private func detail(_ begin: SnapshotBegin) -> String {
        let range =
            begin.kind == .full
            ? "all up to \(begin.toSequence)" : "\(begin.fromSequence) to \(begin.toSequence)"
        let age = self.joined(range, begin.ageMilliseconds.map { "\($0) ms old" } ?? "")
        return self.joined(age, begin.estimatesAgeMilliseconds.map { "estimates \($0) ms old" } ?? "")
    }

    private func detail(_ answer: RequestAnswer.Answer) -> String {
        switch answer {
        case .estimates(let estimates): "\(Story.estimates(estimates)) with the stop"
        case .ownPrompt: "the client asks its own user"
        case .accept: "accepted"
        case .acceptWithPreview: "accepted, with previews first"
        case .decline(let outcome): "declined, \(outcome)"
        }
    }

    private static func detail(_ trip: Identifier, _ routeChoice: UInt32?) -> String {
        "trip \(trip)" + (routeChoice.map { ", route choice \($0)" } ?? "")
    }

    private static func detail(_ settings: VehicleSettings) -> String {
        var parts: [String] = []
        if let isReady = settings.isReadyToShow { parts.append(isReady ? "ready" : "not ready") }
        if let style = settings.contentStyle { parts.append("style \(style.name)") }
        if let compass = settings.compass { parts.append("compass \(compass.name)") }
        if let limit = settings.speedLimit { parts.append("speed limit \(limit.name)") }
        if let limited = settings.limitedUserInterfaces { parts.append("limited \(limited)") }
        return parts.joined(separator: ", ")
    }

    private static func detail(_ response: AlertResponse) -> String {
        switch response.response {
        case .dismissed(let dismissal): "\(response.alert), \(dismissal.name)"
        case .action(let action): "\(response.alert), action \(action)"
        }
    }

    private static func detail(_ stage: DestinationShareStatus.Stage, _ vehicle: VehicleID) -> String {
        switch stage {
        case .willShare: "offered to \(vehicle)"
        case .didShare: "accepted by \(vehicle)"
        case .didFailToShare(let outcome): "\(vehicle): \(outcome)"
        }
    }

    // MARK: Words

    private func way(_ trip: Trip) -> String {
        self.isRedacted ? "" : "\(self.name(trip.origin)) to \(self.name(trip.destination))"
    }

    private func size(_ route: RouteInformation) -> String { self.counted(route.maneuvers) }

    /// Counts them, and those of them that may interrupt the display, if they say so.
    private func counted(_ maneuvers: [Maneuver]) -> String {
        let styles = maneuvers.compactMap(\.notification)
        return self.joined(
            self.counted(maneuvers.count, "maneuver"),
            styles.isEmpty ? "" : "\(styles.count { $0 == .once || $0 == .withEstimates }) interrupt")
    }

    private func name(_ place: Waypoint) -> String { self.isRedacted ? "" : Story.name(place) }

    private func counted(_ count: Int, _ what: String) -> String { GuidanceText.counted(count, what) }

    private func joined(_ first: String, _ second: String) -> String {
        [first, second].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Ids may be long, and come last: they are cut first.
    private func sentence(_ id: Identifier, _ text: String) -> String {
        text.isEmpty ? id.rawValue : "\(text) (\(id.rawValue))"
    }

    private func sentence(_ subject: String, _ text: String) -> String {
        text.isEmpty ? subject : "\(subject): \(text)"
    }
}
