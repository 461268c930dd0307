internal import Logging
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

// Messages of the gateway to a navigation client: about its sessions, and requests of vehicles.
extension NavigationClient {
    func skipped(_ header: FrameHeader) {}

    func received(_ envelope: Envelope) {
        switch envelope.message {
        case .sessionOpened(let opened): self.opened(opened)
        case .sessionEnded(let ended):
            if let key = self.key(of: ended.session) { self.end(key, EndReason(ended.reason)) }
        case .destinationRequest(let request): self.answer(request)
        case .error(let rejection): self.refused(rejection)
        default:
            guard let key = self.key(of: envelope.session) else { return }
            switch envelope.message {
            case .waypointRequest(let request): self.answer(request, key)
            case .requestOutcome(let outcome): self.finish(outcome, key)
            case .acknowledgement(let sequence): self.sessions[key]?.acknowledge(sequence)
            default:
                if let event = SessionEvent(envelope.message) { self.tell(event, key) }
            }
        }
    }

    private func opened(_ opened: SessionOpened) {
        let key = opened.requestID
        guard self.sessions[key] != nil else { return self.endOrphan(opened.session, after: 0) }
        self.sessions[key]?.id = opened.session
        self.logger.info("session opened", metadata: self.sessions[key]?.metadata)
        self.sessions[key]?.forgetVehicles(except: Set(opened.vehicles.map(\.vehicle.rawValue)))
        for status in opened.vehicles {
            if let event = SessionEvent(.vehicleChanged(status)) { self.tell(event, key) }
        }
        self.sessions[key]?.opened?.resume(returning: .success(()))
        self.sessions[key]?.opened = nil
        self.endOrphans()
        // For publications that were queued before the session was open.
        self.wakeLink()
    }

    private func refused(_ rejection: Rejection) {
        if rejection.messageType == MessageType.openSession.rawValue {
            return self.refusedToOpen(rejection.requestID, rejection)
        }
        let (field, reason) = (rejection.field, rejection.reason)
        guard let key = self.key(of: rejection.session) else { return }
        let refused = self.sessions[key]?.state.reject(rejection.sequence)
        if case .shareDestination(let share, _) = refused {
            self.sessions[key]?.failShare(Identifier(share), .rejected(field: field, reason: reason))
        }
        self.tell(.rejected(field: field, reason: reason), key)
    }

    /// Tells the caller of ``openSession(vehicles:receipts:onWaypoint:)``; after a restart of the gateway, the readers.
    private func refusedToOpen(_ key: Identifier, _ rejection: Rejection) {
        guard let record = self.sessions[key], let opened = record.opened else {
            self.end(key, .notRestored(field: rejection.field, reason: rejection.reason))
            return self.endOrphans()
        }
        self.forget(key)
        self.endOrphans()
        opened.resume(returning: .failure(ClientError(rejection, of: record.opening)))
    }

    // MARK: Requests of vehicles

    private func answer(_ request: WaypointRequest, _ key: Identifier) {
        guard let vehicle = request.vehicle else { return }
        self.sessions[key]?.beginInquiry(request.requestID, of: vehicle)
        guard let handler = self.sessions[key]?.onWaypoint else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let id = request.requestID
        let inquiry = WaypointInquiry(
            vehicle: vehicle.rawValue, waypoint: request.waypoint, segment: request.segment.rawValue)
        guard let ending = self.sessions[key]?.ending else { return }
        let session = NavigationSession(client: self, key: key, ending: ending)
        // In a task of its own, since a handler may take long. The gateway limits how many requests are open.
        Task {
            let answer = await handler(inquiry, session)
            guard self.sessions[key]?.isAsked(id, by: vehicle) == true else { return }
            switch answer {
            case .estimates(let estimates, let whenAccepted):
                self.answer(id, key, vehicle, estimates, whenAccepted)
            case .ownPrompt(let ask):
                self.send(.ownPrompt, id, vehicle)
                let isAccepted = await ask()
                guard self.sessions[key]?.isAsked(id, by: vehicle) == true else { return }
                self.send(isAccepted ? .accept : .decline(.declinedByUser), id, vehicle)
            case .decline(let reason): self.send(.decline(reason.outcome), id, vehicle)
            }
        }
    }

    /// Declines the request if the gateway would refuse the estimates: else its vehicle would wait until the deadline.
    private func answer(
        _ id: Identifier, _ key: Identifier, _ vehicle: VehicleID, _ estimates: TravelEstimates,
        _ whenAccepted: @escaping @Sendable () async throws -> Void
    ) {
        let answer = RequestAnswer(requestID: id, vehicle: vehicle, answer: .estimates(estimates))
        do throws(ClientError) {
            try Codec.check(.requestAnswer(answer))
            self.sessions[key]?.whenAccepted(id, of: vehicle, whenAccepted)
            self.send(Envelope(.requestAnswer(answer)))
        } catch {
            if case .rejected(let field, let reason) = error {
                self.tell(.rejected(field: field, reason: reason), key)
            }
            self.send(.decline(.invalid), id, vehicle)
        }
    }

    private func finish(_ outcome: RequestOutcome, _ key: Identifier) {
        guard let metadata = self.sessions[key]?.metadata, let whenAccepted = self.sessions[key]?.end(outcome)
        else { return }
        let logger = self.logger
        Task {
            do { try await whenAccepted() } catch {
                logger.warning(
                    "the app could not carry out a stop that it has offered",
                    metadata: metadata.merging([LogKey.error: "\(error)"]) { $1 })
            }
        }
    }

    private func answer(_ request: DestinationRequest) {
        guard let vehicle = request.vehicle else { return }
        guard let handler = self.configuration.onDestination else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let inquiry = DestinationInquiry(vehicle: vehicle.rawValue, destination: request.destination)
        Task {
            switch await handler(inquiry) {
            case .accept: self.send(.accept, request.requestID, vehicle)
            case .decline(let reason): self.send(.decline(reason.outcome), request.requestID, vehicle)
            }
        }
    }

    private func send(_ answer: RequestAnswer.Answer, _ requestID: Identifier, _ vehicle: VehicleID) {
        self.send(
            Envelope(.requestAnswer(RequestAnswer(requestID: requestID, vehicle: vehicle, answer: answer))))
    }
}
