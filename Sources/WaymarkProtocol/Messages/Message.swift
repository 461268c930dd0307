/// A decoded message of the protocol.
///
/// Why `indirect`: on its way it is handed from event to action to instruction, and the largest content has some 500 bytes. Copies
/// share it.
package indirect enum Message: Sendable, Hashable {
    case hello(Hello)
    case welcome(Welcome)
    case goodbye(Goodbye)
    /// `sentNanoseconds`: what the sender's clock showed; nil: the Pong needs no times.
    case ping(nonce: UInt64, sentNanoseconds: UInt64? = nil)
    case pong(nonce: UInt64, PongTimes? = nil)
    case error(Rejection)

    case openSession(OpenSession)
    case sessionOpened(SessionOpened)
    case vehicleChanged(VehicleStatus)
    case sessionEnded(SessionEnded)
    case snapshotBegin(SnapshotBegin)
    case snapshotEnd
    case sessionSuspended(SessionSuspended)
    case sessionRestored
    case receipt(Receipt)
    case receiptReport(ReceiptReport)
    /// All numbers up to this one are used up.
    case acknowledgement(sequence: UInt64)

    case publication(Publication)

    case waypointRequest(WaypointRequest)
    case destinationRequest(DestinationRequest)
    case withdrawRequest(WithdrawRequest)
    case requestAnswer(RequestAnswer)
    case prompt(Prompt)
    case promptAnswer(PromptAnswer)
    case promptOver(PromptOver)
    case requestOutcome(RequestOutcome)
    case cancelNavigation(CancelReason)
    case allowNavigation
    case updateRouteSource(UpdateRouteSource)
    case vehicleSettings(VehicleSettings)
    case zoomCluster(ZoomCluster)
    case alertResponse(AlertResponse)
    case destinationShareAnswer(DestinationShareAnswer)
    case destinationShareStatus(DestinationShareStatus)
    case vehicleExtension(VehicleExtension)
    case selectPreview(SelectPreview)
    case startTripRequest(StartTripRequest)
    case simulateDrive(SimulateDrive)
    case destinationShareWanted(DestinationShareWanted)
    case updateRouteFeedback(UpdateRouteFeedback)

    case observe(Observe)
    case observationBegin(ObservationBegin)
    case observedRecords(ObservedRecords)
    case observedEvent(ObservedEvent)
    case observedFrames(ObservedFrames)
    case observationGap(ObservationGap)
    case readCounters(ReadCounters)
    case counters(CounterReport)

    /// The type in the frame's header.
    package var type: MessageType {
        switch self {
        case .hello: .hello
        case .welcome: .welcome
        case .goodbye: .goodbye
        case .ping: .ping
        case .pong: .pong
        case .error: .error
        case .openSession: .openSession
        case .sessionOpened: .sessionOpened
        case .vehicleChanged: .vehicleChanged
        case .sessionEnded: .sessionEnded
        case .snapshotBegin: .snapshotBegin
        case .snapshotEnd: .snapshotEnd
        case .sessionSuspended: .sessionSuspended
        case .sessionRestored: .sessionRestored
        case .receipt: .receipt
        case .receiptReport: .receiptReport
        case .acknowledgement: .acknowledgement
        case .publication(let publication): publication.type
        case .waypointRequest: .waypointRequest
        case .destinationRequest: .destinationRequest
        case .withdrawRequest: .withdrawRequest
        case .requestAnswer: .requestAnswer
        case .prompt: .prompt
        case .promptAnswer: .promptAnswer
        case .promptOver: .promptOver
        case .requestOutcome: .requestOutcome
        case .cancelNavigation: .cancelNavigation
        case .allowNavigation: .allowNavigation
        case .updateRouteSource: .updateRouteSource
        case .vehicleSettings: .vehicleSettings
        case .zoomCluster: .zoomCluster
        case .alertResponse: .alertResponse
        case .destinationShareAnswer: .destinationShareAnswer
        case .destinationShareStatus: .destinationShareStatus
        case .vehicleExtension: .vehicleExtension
        case .selectPreview: .selectPreview
        case .startTripRequest: .startTripRequest
        case .simulateDrive: .simulateDrive
        case .destinationShareWanted: .destinationShareWanted
        case .updateRouteFeedback: .updateRouteFeedback
        case .observe: .observe
        case .observationBegin: .observationBegin
        case .observedRecords: .observedRecords
        case .observedEvent: .observedEvent
        case .observedFrames: .observedFrames
        case .observationGap: .observationGap
        case .readCounters: .readCounters
        case .counters: .counters
        }
    }
}

/// A message and the other fields of its frame's header.
package struct Envelope: Sendable, Hashable {
    package var message: Message
    package var session: SessionID
    package var sequence: UInt64
    package var flags: FrameHeader.Flags
    /// Whether it is one of several frames that were made of a message. Not on the wire: the last of them has no flag.
    package var isPart = false

    package init(
        _ message: Message, session: SessionID = .none, sequence: UInt64 = 0, flags: FrameHeader.Flags = []
    ) {
        self.message = message
        self.session = session
        self.sequence = sequence
        self.flags = flags
    }

    /// The header of this message's frame, with a body length of 0.
    package var header: FrameHeader {
        var header = FrameHeader(
            type: self.message.type.rawValue, flags: self.flags, session: self.session,
            sequence: self.sequence)
        if case .publication(.publishExtension(let published)) = self.message {
            header.flags.formUnion(published.flags)
            header.key = published.key ?? 0
        }
        return header
    }
}

extension MessageType {
    /// The name on the protocol's page, for people, e.g. `UpdateTripEstimates`.
    package var title: String {
        let name = "\(self)"
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
