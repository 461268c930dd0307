internal import WaymarkProtocol

/// A kind of situation that can occur in a run. The tests check that every expected kind occurs in some run.
package struct Happening: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable, Hashable {
        case snapshot(SnapshotBegin.Kind)
        case closed(CloseCode)
        case refused(ErrorCode)
        case outcome(Outcome)
        case left(SessionEndReason)
        case shared(DestinationShareStatus.Stage)
        case conflated
        case cutInMidFrame
        case restarted
        case handedOver
        case brokenWhileWriting
        case processedInTurns
        case deliveredInRounds
        case rulesChanged
        case equivalentRequests
        case acknowledged
        case extensionRetained
        case overtaken
        case divided
        case observerMissed, observerResumed
        case eventRejected
    }

    private let kind: Kind

    package var description: String { "\(self.kind)" }

    static let conflated = Happening(kind: .conflated)
    static let cutInMidFrame = Happening(kind: .cutInMidFrame)
    static let restarted = Happening(kind: .restarted)
    static let handedOver = Happening(kind: .handedOver)
    static let brokenWhileWriting = Happening(kind: .brokenWhileWriting)
    /// The gateway's budget was spent while events waited.
    static let processedInTurns = Happening(kind: .processedInTurns)
    /// An audience was larger than a loop's budget.
    static let deliveredInRounds = Happening(kind: .deliveredInRounds)
    static let rulesChanged = Happening(kind: .rulesChanged)
    /// A frame without a session goes before frames of a session that wait.
    static let overtaken = Happening(kind: .overtaken)
    /// Two open requests of a vehicle had ids that Unicode calls equivalent.
    static let equivalentRequests = Happening(kind: .equivalentRequests)
    /// A snapshot had a state of a type that no build knows.
    static let extensionRetained = Happening(kind: .extensionRetained)
    /// A snapshot has a publication in several frames.
    static let divided = Happening(kind: .divided)
    /// An observer read too slowly, and was told how much it missed.
    static let observerMissed = Happening(kind: .observerMissed)
    /// An observer went on where it was.
    static let observerResumed = Happening(kind: .observerResumed)

    /// An endpoint sent more events than may wait for its client.
    static let eventRejected = Happening(kind: .eventRejected)

    /// The happening that a message from the gateway stands for; nil if none.
    init?(_ message: Message) {
        switch message {
        case .snapshotBegin(let begin): self.kind = .snapshot(begin.kind)
        case .goodbye(let goodbye): self.kind = .closed(goodbye.code)
        case .error(let rejection): self.kind = .refused(rejection.code)
        case .requestOutcome(let outcome): self.kind = .outcome(outcome.outcome)
        case .sessionEnded(let ended): self.kind = .left(ended.reason)
        case .vehicleChanged(let status):
            guard case .left(let reason) = status.standing else { return nil }
            self.kind = .left(reason)
        case .destinationShareStatus(let status): self.kind = .shared(status.stage)
        case .acknowledgement: self.kind = .acknowledged
        default: return nil  // Occurs in every run.
        }
    }

    private init(kind: Kind) { self.kind = kind }

    /// The happenings that must occur in a few hundred runs.
    package static let expected: Set<Happening> = {
        let closed: [CloseCode] = [
            .badMagic, .unsupportedVersion, .frameTooLarge, .unknownMessageType, .unexpectedMessage,
            .handshakeTimeout,
            .handshakeInvalid, .idInUse, .takenOver, .keepaliveTimeout, .slowConsumer, .notAuthorized,
            .rulesChanged,
        ]
        let refused: [ErrorCode] = [
            .malformed, .outOfRange, .unknownReference, .duplicate, .wrongState, .staleGeneration,
            .sequenceGap,
            .unknownSession, .vehicleBusy, .vehicleNavigatesItself, .notGranted, .notAuthorized,
            .limitReached,
        ]
        let outcomes: [Outcome] = [
            .accepted, .notSupported, .declinedByUser, .busy, .invalid, .timedOut, .gone, .withdrawn,
            .sessionEnded,
        ]
        let reasons: [SessionEndReason] = [
            .finished, .cancelledByClient, .ownNavigationStarted, .userStopped, .replaced, .clientGone,
            .vehicleGone, .notAuthorized,
        ]
        let stages: [DestinationShareStatus.Stage] = [
            .willShare, .didShare, .didFailToShare(.declinedByUser), .didFailToShare(.timedOut),
        ]
        var kinds: [Kind] = [
            .snapshot(.full), .snapshot(.missed), .conflated, .cutInMidFrame, .restarted, .handedOver,
            .brokenWhileWriting, .processedInTurns, .deliveredInRounds, .rulesChanged,
            .equivalentRequests, .acknowledged, .extensionRetained, .overtaken, .divided,
            .observerMissed, .observerResumed, .eventRejected,
        ]
        kinds += closed.map(Kind.closed) + refused.map(Kind.refused) + outcomes.map(Kind.outcome)
        kinds += reasons.map(Kind.left) + stages.map(Kind.shared)
        return Set(kinds.map { Happening(kind: $0) })
    }()
}
