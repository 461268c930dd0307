public import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkScenario

extension Rig {
    /// A message, by its name and conditions of its fields; without a name every publication.
    struct MessageDraft: Sendable {
        var name: MessageName?
        var conditions: [FieldCondition]
    }

    /// A message that crosses, or a state that begins to hold.
    public struct Event: Sendable {
        enum Kind: Sendable {
            case message(MessageDraft)
            case state([FieldCondition])
        }

        let kind: Kind
        private(set) var subject: PeerName?
        private(set) var count: Int?

        init(_ kind: Kind) { self.kind = kind }

        /// An event that happens when this message crosses.
        ///
        /// - Parameters:
        ///   - name: The message.
        ///   - fields: Conditions of its fields, e.g. `{ $0["maneuverState"] == "prepare" }`.
        /// - Returns: The event.
        public static func message(
            _ name: MessageName,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Event {
            Event(.message(MessageDraft(name: name, conditions: fields(MessageKeys()))))
        }

        /// An event that happens when the state of an endpoint begins to fulfil these conditions.
        public static func state(@LineBuilder _ fields: (StateKeys) -> [FieldCondition]) -> Event {
            Event(.state(fields(StateKeys())))
        }

        /// Sets the peer that the event is about.
        public func of(_ peer: some Peer) -> Event {
            var event = self
            event.subject = peer.name
            return event
        }

        /// Restricts the event to the n-th time that it happens, 1 to 1 000 000.
        public func occurrence(_ count: Int) -> Event {
            var event = self
            event.count = count
            return event
        }
    }

    /// An expectation: what must be, or must not, in a word of Docs/testing.md.
    public struct Expectation: Sendable {
        enum Word: Sendable {
            case message(MessageDraft, within: Duration)
            case eventually([FieldCondition], within: Duration)
            case always([FieldCondition], for: Duration?)
            case never(Event.Kind, for: Duration?)
            case sometimes(Event.Kind)
            case rate(MessageDraft, atMost: Int?, atLeast: Int?, per: Duration, for: Duration?)
            case gap(MessageDraft, below: Duration, for: Duration?)
            case inOrder([Event], within: Duration)
            case exactly(Int, MessageDraft, for: Duration?)
            case unchanged([String], for: Duration)
            case shownWithin(Duration, for: Duration?)
            case outcome(RequestResult, within: Duration)
            case holdsWhatWasPublished(within: Duration)
            case ended(EndReason, within: Duration?)
        }

        let word: Word
        private(set) var subject: PeerName?
        private(set) var reason: String?
        private(set) var event: Event?

        private init(_ word: Word) { self.word = word }

        // MARK: What refines it

        /// Sets the vehicle, endpoint or client that the expectation is about.
        public func of(_ peer: some Peer) -> Expectation {
            var expectation = self
            expectation.subject = peer.name
            return expectation
        }

        /// Adds the reason why the expectation matters, for the report, in 1 to 512 letters.
        public func because(_ reason: String) -> Expectation {
            var expectation = self
            expectation.reason = reason
            return expectation
        }

        /// Makes the expectation count from this event, each time that it happens. If it never happens, the expectation fails. Only
        /// ``Rig/watch(_:of:fileID:line:column:)`` takes it.
        public func when(_ event: Event) -> Expectation {
            var expectation = self
            expectation.event = event
            return expectation
        }

        // MARK: Words about states

        /// An expectation that the state holds now, or within the time.
        public static func eventually(
            within: Duration, @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.eventually(fields(StateKeys()), within: within)) }

        /// An expectation that the state holds now, and after everything that happens.
        ///
        /// - Parameters:
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of the state.
        /// - Returns: The expectation.
        public static func always(
            for duration: Duration? = nil, @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.always(fields(StateKeys()), for: duration)) }

        /// An expectation that the state does not hold now, nor after anything that happens.
        ///
        /// - Parameters:
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of the state.
        /// - Returns: The expectation.
        public static func never(
            for duration: Duration? = nil, @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.never(.state(fields(StateKeys())), for: duration)) }

        /// An expectation that the state holds at some time of the run.
        public static func sometimes(
            @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.sometimes(.state(fields(StateKeys())))) }

        /// An expectation that these fields stay as they are.
        public static func unchanged(
            for duration: Duration, @LineBuilder _ fields: (StateKeys) -> [String]
        ) -> Expectation { Expectation(.unchanged(fields(StateKeys()), for: duration)) }

        /// An expectation that the gateway has accepted all that the client sent, and that the endpoint holds it, cut to its profile.
        public static func holdsWhatWasPublished(within: Duration) -> Expectation {
            Expectation(.holdsWhatWasPublished(within: within))
        }

        // MARK: Words about messages

        /// An expectation that this message crosses the connection within the time.
        public static func message(
            _ name: MessageName, within: Duration,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            Expectation(.message(MessageDraft(name: name, conditions: fields(MessageKeys())), within: within))
        }

        /// An expectation that this message does not cross.
        ///
        /// - Parameters:
        ///   - name: The message.
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of its fields.
        /// - Returns: The expectation.
        public static func never(
            _ name: MessageName, for duration: Duration? = nil,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            Expectation(
                .never(.message(MessageDraft(name: name, conditions: fields(MessageKeys()))), for: duration))
        }

        /// An expectation that this message crosses at some time of the run.
        public static func sometimes(
            _ name: MessageName,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            Expectation(.sometimes(.message(MessageDraft(name: name, conditions: fields(MessageKeys())))))
        }

        /// An expectation of at most `atMost` messages in any interval, and at least `atLeast` in each.
        ///
        /// - Parameters:
        ///   - name: nil: publications of any kind.
        ///   - atMost: From 0; this or `atLeast` is needed.
        ///   - atLeast: From 1.
        ///   - interval: More than 0.
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of the message's fields.
        /// - Returns: The expectation.
        public static func rate(
            of name: MessageName? = nil, atMost: Int? = nil, atLeast: Int? = nil, per interval: Duration,
            for duration: Duration? = nil,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            let message = MessageDraft(name: name, conditions: fields(MessageKeys()))
            return Expectation(
                .rate(message, atMost: atMost, atLeast: atLeast, per: interval, for: duration))
        }

        /// An expectation of less than `limit` to the first message, between two, and from the last one to the end.
        ///
        /// - Parameters:
        ///   - name: nil: publications of any kind.
        ///   - limit: More than 0.
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of the message's fields.
        /// - Returns: The expectation.
        public static func gap(
            of name: MessageName? = nil, below limit: Duration, for duration: Duration? = nil,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            let message = MessageDraft(name: name, conditions: fields(MessageKeys()))
            return Expectation(.gap(message, below: limit, for: duration))
        }

        /// An expectation that content is on the display at most `limit` after the gateway has accepted it, as clients are told that want
        /// receipts. At least one delay must be measured. See `showsAfter` of `addVehicle`.
        ///
        /// - Parameters:
        ///   - limit: More than 0.
        ///   - duration: nil: to the end of the run.
        /// - Returns: The expectation.
        public static func shownWithin(_ limit: Duration, for duration: Duration? = nil) -> Expectation {
            Expectation(.shownWithin(limit, for: duration))
        }

        /// An expectation of these events one after the other; others may be between them.
        ///
        /// - Parameters:
        ///   - events: 2 to 64.
        ///   - within: The time in which all of them happen.
        /// - Returns: The expectation.
        public static func inOrder(_ events: Event..., within: Duration) -> Expectation {
            Expectation(.inOrder(events, within: within))
        }

        /// An expectation of exactly `count` of these messages.
        ///
        /// - Parameters:
        ///   - count: From 0.
        ///   - name: The message.
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of its fields.
        /// - Returns: The expectation.
        public static func exactly(
            _ count: Int, _ name: MessageName, for duration: Duration? = nil,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            let message = MessageDraft(name: name, conditions: fields(MessageKeys()))
            return Expectation(.exactly(count, message, for: duration))
        }

        // MARK: Words about requests and ends

        /// An expectation that the last request ends with this outcome.
        public static func outcome(_ outcome: RequestResult, within: Duration) -> Expectation {
            Expectation(.outcome(outcome, within: within))
        }

        /// An expectation that the session of an endpoint, or the drive of a client, ends for this reason.
        ///
        /// - Parameters:
        ///   - reason: One that the protocol names: `finished`, `cancelledByClient`, `ownNavigationStarted`, `userStopped`, `replaced`,
        ///     `clientGone`, `vehicleGone`, `notAuthorized`.
        ///   - within: nil: the last drive of the run.
        /// - Returns: The expectation.
        public static func ended(_ reason: EndReason, within: Duration? = nil) -> Expectation {
            Expectation(.ended(reason, within: within))
        }
    }
}
