internal import CWaymarkWire
internal import WaymarkProtocol

extension Message {
    /// The frame of a short message that goes out often; nil for the others, which have a ``wire(in:)``.
    func shortFrame(_ header: FrameHeader) -> Frame? {
        switch self {
        case .ping(let nonce, nil), .pong(let nonce, nil): Codec.signOfLife(header, nonce)
        case .ping(let nonce, let sent?): Codec.ping(header, nonce, sentNanoseconds: sent)
        case .pong(let nonce, let times?): Codec.pong(header, nonce, times)
        case .acknowledgement(let sequence): Codec.acknowledgement(header, sequence)
        case .requestOutcome(let outcome): outcome.frame(header)
        case .observedFrames(let frames): frames.frame(header)
        case _: nil
        }
    }

    /// The C structure of the type.
    func wire(in arena: Arena) -> AnyWire {
        switch self {
        case .ping, .pong, .acknowledgement, .requestOutcome, .observedFrames:
            preconditionFailure("\(self.type) has a frame of its own")
        case .hello(let hello): unsafe hello.wire(in: arena)
        case .welcome(let welcome): unsafe welcome.wire(in: arena)
        case .goodbye(let goodbye): unsafe goodbye.wire(in: arena)
        case .error(let rejection): unsafe rejection.wire(in: arena)
        case .openSession(let open): unsafe open.wire(in: arena)
        case .sessionOpened(let opened): unsafe opened.wire(in: arena)
        case .vehicleChanged(let status): unsafe status.changedWire(in: arena)
        case .sessionEnded(let ended): unsafe ended.wire(in: arena)
        case .snapshotBegin(let begin): unsafe begin.wire(in: arena)
        case .snapshotEnd: unsafe arena.body(waymark__v1__snapshot_end__init)
        case .sessionSuspended(let suspended): unsafe suspended.wire(in: arena)
        case .sessionRestored: unsafe arena.body(waymark__v1__session_restored__init)
        case .receipt(let receipt): unsafe receipt.wire(in: arena)
        case .receiptReport(let report): unsafe report.wire(in: arena)
        case .publication(let publication): unsafe publication.wire(in: arena)
        case .waypointRequest(let request): unsafe request.wire(in: arena)
        case .destinationRequest(let request): unsafe request.wire(in: arena)
        case .withdrawRequest(let request): unsafe request.wire(in: arena)
        case .requestAnswer(let answer): unsafe answer.wire(in: arena)
        case .prompt(let prompt): unsafe prompt.wire(in: arena)
        case .promptAnswer(let answer): unsafe answer.wire(in: arena)
        case .promptOver(let over): unsafe over.wire(in: arena)
        case .cancelNavigation(let reason): unsafe reason.wire(in: arena)
        case .allowNavigation: unsafe arena.body(waymark__v1__allow_navigation__init)
        case .updateRouteSource(let update): unsafe update.wire(in: arena)
        case .vehicleSettings(let settings): unsafe settings.wire(in: arena)
        case .zoomCluster(let zoom): unsafe zoom.wire(in: arena)
        case .alertResponse(let response): unsafe response.wire(in: arena)
        case .destinationShareAnswer(let answer): unsafe answer.wire(in: arena)
        case .destinationShareStatus(let status): unsafe status.wire(in: arena)
        case .vehicleExtension(let sent): unsafe sent.wire(in: arena)
        case .selectPreview(let selected): unsafe selected.wire(in: arena)
        case .startTripRequest(let request): unsafe request.wire(in: arena)
        case .simulateDrive(let asked): unsafe asked.wire(in: arena)
        case .destinationShareWanted(let wanted): unsafe wanted.wire(in: arena)
        case .updateRouteFeedback(let update): unsafe update.wire(in: arena)
        case .observe(let observe): unsafe observe.wire(in: arena)
        case .observationBegin(let begin): unsafe begin.wire(in: arena)
        case .observedRecords(let records): unsafe records.wire(in: arena)
        case .observedEvent(let event): unsafe event.wire(in: arena)
        case .observationGap(let gap): unsafe gap.wire(in: arena)
        case .readCounters(let read): unsafe read.wire(in: arena)
        case .counters(let report): unsafe report.wire(in: arena)
        }
    }

    /// Reads an unpacked body whose fields were checked one by one, of a frame with `header`. Checks that fields do not contradict each other.
    init(_ type: MessageType, _ wire: AnyWire, _ header: FrameHeader) throws(Rejection) {
        switch type {
        case .hello: self = .hello(try unsafe Hello(wire.message()))
        case .welcome: self = .welcome(try unsafe Welcome(wire.message()))
        case .goodbye: self = .goodbye(unsafe Goodbye(wire.message()))
        case .ping:
            let ping: UnsafeMutablePointer<Waymark__V1__Ping> = unsafe wire.message()
            let hasTime = unsafe ping.pointee.sent_case == WAYMARK__V1__PING__SENT_SENT_NANOSECONDS
            self = .ping(
                nonce: unsafe ping.pointee.nonce,
                sentNanoseconds: hasTime ? unsafe ping.pointee.sent_nanoseconds : nil)
        case .pong:
            let pong: UnsafeMutablePointer<Waymark__V1__Pong> = unsafe wire.message()
            // One time alone says nothing.
            let hasTimes =
                unsafe pong.pointee.received_case == WAYMARK__V1__PONG__RECEIVED_RECEIVED_NANOSECONDS
                && pong.pointee.sent_case == WAYMARK__V1__PONG__SENT_SENT_NANOSECONDS
            let times = unsafe PongTimes(
                receivedNanoseconds: pong.pointee.received_nanoseconds,
                sentNanoseconds: pong.pointee.sent_nanoseconds)
            self = .pong(nonce: unsafe pong.pointee.nonce, hasTimes ? times : nil)
        case .error: self = .error(unsafe Rejection(wire.message()))
        case .openSession: self = .openSession(try unsafe OpenSession(wire.message()))
        case .sessionOpened: self = .sessionOpened(try unsafe SessionOpened(wire.message()))
        case .vehicleChanged:
            let changed: UnsafeMutablePointer<Waymark__V1__VehicleChanged> = unsafe wire.message()
            self = .vehicleChanged(try unsafe VehicleStatus(changed))
        case .sessionEnded: self = .sessionEnded(unsafe SessionEnded(wire.message()))
        case .snapshotBegin: self = .snapshotBegin(try unsafe SnapshotBegin(wire.message()))
        case .snapshotEnd: self = .snapshotEnd
        case .sessionSuspended: self = .sessionSuspended(unsafe SessionSuspended(wire.message()))
        case .sessionRestored: self = .sessionRestored
        case .receipt: self = .receipt(try unsafe Receipt(wire.message()))
        case .receiptReport: self = .receiptReport(try unsafe ReceiptReport(wire.message()))
        case .acknowledgement:
            let wire: UnsafeMutablePointer<Waymark__V1__Acknowledgement> = unsafe wire.message()
            self = .acknowledgement(sequence: unsafe wire.pointee.sequence)
        case .waypointRequest: self = .waypointRequest(unsafe WaypointRequest(wire.message()))
        case .destinationRequest: self = .destinationRequest(unsafe DestinationRequest(wire.message()))
        case .withdrawRequest: self = .withdrawRequest(unsafe WithdrawRequest(wire.message()))
        case .requestAnswer: self = .requestAnswer(try unsafe RequestAnswer(wire.message()))
        case .prompt: self = .prompt(unsafe Prompt(wire.message()))
        case .promptAnswer: self = .promptAnswer(unsafe PromptAnswer(wire.message()))
        case .promptOver: self = .promptOver(unsafe PromptOver(wire.message()))
        case .requestOutcome: self = .requestOutcome(try unsafe RequestOutcome(wire.message()))
        case .cancelNavigation: self = .cancelNavigation(unsafe CancelReason(wire.message()))
        case .allowNavigation: self = .allowNavigation
        case .updateRouteSource: self = .updateRouteSource(unsafe UpdateRouteSource(wire.message()))
        case .vehicleSettings: self = .vehicleSettings(try unsafe VehicleSettings(wire.message()))
        case .zoomCluster: self = .zoomCluster(try unsafe ZoomCluster(wire.message()))
        case .alertResponse: self = .alertResponse(try unsafe AlertResponse(wire.message()))
        case .destinationShareAnswer:
            self = .destinationShareAnswer(unsafe DestinationShareAnswer(wire.message()))
        case .destinationShareStatus:
            self = .destinationShareStatus(try unsafe DestinationShareStatus(wire.message()))
        case .vehicleExtension: self = .vehicleExtension(try unsafe VehicleExtension(wire.message()))
        case .selectPreview: self = .selectPreview(try unsafe SelectPreview(wire.message()))
        case .startTripRequest: self = .startTripRequest(unsafe StartTripRequest(wire.message()))
        case .simulateDrive: self = .simulateDrive(try unsafe SimulateDrive(wire.message()))
        case .destinationShareWanted:
            self = .destinationShareWanted(try unsafe DestinationShareWanted(wire.message()))
        case .updateRouteFeedback: self = .updateRouteFeedback(unsafe UpdateRouteFeedback(wire.message()))
        case .observe: self = .observe(unsafe Observe(wire.message()))
        case .observationBegin: self = .observationBegin(unsafe ObservationBegin(wire.message()))
        case .observedRecords: self = .observedRecords(try unsafe ObservedRecords(wire.message()))
        case .observedEvent: self = .observedEvent(unsafe ObservedEvent(wire.message()))
        case .observedFrames: self = .observedFrames(unsafe ObservedFrames(wire.message()))
        case .observationGap: self = .observationGap(unsafe ObservationGap(wire.message()))
        case .readCounters: self = .readCounters(unsafe ReadCounters(wire.message()))
        case .counters: self = .counters(unsafe CounterReport(wire.message()))
        default: self = .publication(unsafe Publication(type, wire, header))
        }
    }
}
