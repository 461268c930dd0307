internal import WaymarkCodec
package import WaymarkModel
package import WaymarkProtocol

/// A request of a vehicle in one session: to stop on the way, or to start a trip of the previews.
package struct InquiryID: Sendable, Hashable {
    package let session: Identifier
    package let vehicle: VehicleID
    package let request: Identifier
}

/// A request of a vehicle for a drive.
package struct DestinationInquiryID: Sendable, Hashable {
    package let vehicle: VehicleID
    package let request: Identifier
}

// Messages of the gateway to a navigation client: about its sessions, and requests of vehicles.
extension ClientMachine {
    /// What an app answers to a vehicle that wants to stop on the way.
    package enum InquiryAnswer: Sendable {
        /// The vehicle's user is asked with these estimates of the trip with the stop.
        case estimates(TravelEstimates)
        /// The client asks its own user; ``accept`` or ``decline(_:)`` follows.
        case ownPrompt
        case accept
        case decline(DeclineReason)
    }

    mutating func received(_ envelope: Envelope, _ outputs: inout [Output]) {
        switch envelope.message {
        case .sessionOpened(let opened): self.opened(opened, &outputs)
        case .sessionEnded(let ended):
            if let key = self.key(of: ended.session) { self.end(key, EndReason(ended.reason), &outputs) }
        case .destinationRequest(let request): self.ask(request, &outputs)
        case .simulateDrive(let asked): outputs.append(.askedToSimulate(SimulatedDrive(asked)))
        case .requestOutcome(let outcome) where envelope.session == .none:
            outputs.append(
                .destinationInquiryEnded(
                    DestinationInquiryID(vehicle: outcome.vehicle, request: outcome.requestID)))
        case .error(let rejection): self.refused(rejection, &outputs)
        default:
            guard let key = self.key(of: envelope.session) else { return }
            switch envelope.message {
            case .waypointRequest(let request): self.ask(request, key, &outputs)
            case .startTripRequest(let request): self.ask(request, key, &outputs)
            case .requestOutcome(let outcome): self.sessions[key]?.end(outcome, into: &outputs)
            case .acknowledgement(let sequence): self.sessions[key]?.acknowledge(sequence, into: &outputs)
            default:
                if let event = SessionEvent(envelope.message) { self.tell(event, key, &outputs) }
            }
        }
    }

    private mutating func opened(_ opened: SessionOpened, _ outputs: inout [Output]) {
        let key = opened.requestID
        guard self.sessions[key] != nil else { return self.endOrphan(opened.session, after: 0) }
        self.sessions[key]?.id = opened.session
        self.log(.info, "session opened", key, &outputs)
        self.sessions[key]?.forgetVehicles(
            except: Set(opened.vehicles.map(\.vehicle.rawValue)), into: &outputs)
        for status in opened.vehicles {
            if let event = SessionEvent(.vehicleChanged(status)) { self.tell(event, key, &outputs) }
        }
        if let call = self.sessions[key]?.openingCall {
            self.sessions[key]?.openingCall = nil
            outputs.append(.returned(call: call, .success(())))
        }
        self.endOrphans()
    }

    private mutating func refused(_ rejection: Rejection, _ outputs: inout [Output]) {
        if rejection.messageType == MessageType.openSession.rawValue {
            return self.refusedToOpen(rejection.requestID, rejection, &outputs)
        }
        guard let key = self.key(of: rejection.session) else { return }
        // A number that the gateway did not expect is not used up, so the frame is neither refused nor acknowledged: it is sent again
        // after the next reconnect, unless the gateway had it before (REQ-NUM-04, REQ-ACK-05, REQ-ACK-06).
        let refused =
            rejection.code == .sequenceGap
            ? self.sessions[key]?.state.sent(as: rejection.sequence)
            : self.sessions[key]?.state.reject(rejection.sequence)
        if case .shareDestination(let share, _, _) = refused {
            self.sessions[key]?.failShare(
                Identifier(share), ClientError(rejection), into: &outputs)
        }
        let limit = GatewayLimit(
            rejection.limit, retryAfterMilliseconds: rejection.retryAfterMilliseconds)
        self.tell(
            .rejected(field: rejection.field, reason: rejection.reason, limit: limit), key, &outputs)
    }

    /// Answers the call that opens the session; after a restart of the gateway, ends the session.
    private mutating func refusedToOpen(
        _ key: Identifier, _ rejection: Rejection, _ outputs: inout [Output]
    ) {
        guard let session = self.sessions[key], let call = session.openingCall else {
            self.end(key, .notRestored(field: rejection.field, reason: rejection.reason), &outputs)
            return self.endOrphans()
        }
        self.forget(key, &outputs)
        self.endOrphans()
        outputs.append(.returned(call: call, .failure(ClientError(rejection, of: session.opening))))
    }

    // MARK: Requests of vehicles

    private mutating func ask(
        _ request: WaypointRequest, _ key: Identifier, _ outputs: inout [Output]
    ) {
        guard let vehicle = request.vehicle, let session = self.sessions[key] else { return }
        let id = InquiryID(session: key, vehicle: vehicle, request: request.requestID)
        guard session.isAsked(id) || self.inquiryCount < PeerBounds.inquiriesMax else {
            return self.send(.decline(.busy), request.requestID, vehicle)
        }
        self.sessions[key]?.beginInquiry(id, .stop)
        guard session.answersWaypoints else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let inquiry = WaypointInquiry(
            vehicle: vehicle.rawValue, waypoint: request.waypoint, segment: request.segment.rawValue)
        outputs.append(.asked(inquiry, id))
    }

    private mutating func ask(
        _ request: StartTripRequest, _ key: Identifier, _ outputs: inout [Output]
    ) {
        guard let vehicle = request.vehicle, let session = self.sessions[key] else { return }
        let id = InquiryID(session: key, vehicle: vehicle, request: request.requestID)
        guard session.isAsked(id) || self.inquiryCount < PeerBounds.inquiriesMax else {
            return self.send(.decline(.busy), request.requestID, vehicle)
        }
        self.sessions[key]?.beginInquiry(id, .start)
        guard session.answersStarts else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let inquiry = StartTripInquiry(
            vehicle: vehicle.rawValue, trip: request.trip.rawValue, routeChoice: request.routeChoice)
        outputs.append(.askedToStart(inquiry, id))
    }

    /// Whether the vehicle still waits for an answer.
    package func isAsked(_ id: InquiryID) -> Bool { self.sessions[id.session]?.isAsked(id) ?? false }

    /// Answers a vehicle that wants to stop on the way or to start a trip, unless the request has ended.
    ///
    /// Estimates that the gateway would refuse decline the request: else its vehicle would wait until the deadline.
    package mutating func answer(
        _ id: InquiryID, _ answer: InquiryAnswer, into outputs: inout [Output]
    ) {
        guard self.isAsked(id) else { return }
        switch answer {
        case .ownPrompt: self.send(.ownPrompt, id.request, id.vehicle)
        case .accept: self.send(.accept, id.request, id.vehicle)
        case .decline(let reason): self.send(.decline(reason.outcome), id.request, id.vehicle)
        case .estimates(let estimates):
            let answer = RequestAnswer(
                requestID: id.request, vehicle: id.vehicle, answer: .estimates(estimates))
            do throws(ClientError) {
                try Codec.check(.requestAnswer(answer))
                self.send(Envelope(.requestAnswer(answer)))
            } catch {
                if case .rejected(let field, let reason, let limit) = error {
                    self.tell(.rejected(field: field, reason: reason, limit: limit), id.session, &outputs)
                }
                self.send(.decline(.invalid), id.request, id.vehicle)
            }
        }
    }

    private mutating func ask(_ request: DestinationRequest, _ outputs: inout [Output]) {
        guard let vehicle = request.vehicle else { return }
        guard self.answersDestinations else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let inquiry = DestinationInquiry(vehicle: vehicle.rawValue, destination: request.destination)
        let id = DestinationInquiryID(vehicle: vehicle, request: request.requestID)
        outputs.append(.askedForDestination(inquiry, id))
    }

    /// Answers a vehicle that wants to be guided to a place.
    package mutating func answerDestination(_ id: DestinationInquiryID, _ answer: DestinationAnswer) {
        switch answer {
        case .accept: self.send(.accept, id.request, id.vehicle)
        case .acceptWithPreview: self.send(.acceptWithPreview, id.request, id.vehicle)
        case .decline(let reason): self.send(.decline(reason.outcome), id.request, id.vehicle)
        }
    }

    private mutating func send(
        _ answer: RequestAnswer.Answer, _ requestID: Identifier, _ vehicle: VehicleID
    ) {
        self.send(
            Envelope(.requestAnswer(RequestAnswer(requestID: requestID, vehicle: vehicle, answer: answer))))
    }
}
