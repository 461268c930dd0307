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

        /// This message crosses.
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

        /// The state of an endpoint begins to fulfil these.
        public static func state(@LineBuilder _ fields: (StateKeys) -> [FieldCondition]) -> Event {
            Event(.state(fields(StateKeys())))
        }

        /// Of this peer.
        public func of(_ peer: some Peer) -> Event {
            var event = self
            event.subject = peer.name
            return event
        }

        /// Only the n-th time that it happens, 1 to 1 000 000.
        public func occurrence(_ count: Int) -> Event {
            var event = self
            event.count = count
            return event
        }
    }

    /// What must be, or must not: a word of Docs/testing.md.
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

        /// Of this vehicle, endpoint or client.
        public func of(_ peer: some Peer) -> Expectation {
            var expectation = self
            expectation.subject = peer.name
            return expectation
        }

        /// Why it matters, for the report, in 1 to 512 letters.
        public func because(_ reason: String) -> Expectation {
            var expectation = self
            expectation.reason = reason
            return expectation
        }

        /// It counts from this event, each time that it happens. If it never happens, the expectation fails. For
        /// ``Rig/watch(_:of:fileID:line:column:)``.
        public func when(_ event: Event) -> Expectation {
            var expectation = self
            expectation.event = event
            return expectation
        }

        // MARK: Words about states

        /// The state holds now, or within the time.
        public static func eventually(
            within: Duration, @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.eventually(fields(StateKeys()), within: within)) }

        /// The state holds now, and after everything that happens.
        ///
        /// - Parameters:
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of the state.
        /// - Returns: The expectation.
        public static func always(
            for duration: Duration? = nil, @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.always(fields(StateKeys()), for: duration)) }

        /// The state does not hold now, and after nothing that happens.
        ///
        /// - Parameters:
        ///   - duration: nil: to the end of the run.
        ///   - fields: Conditions of the state.
        /// - Returns: The expectation.
        public static func never(
            for duration: Duration? = nil, @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.never(.state(fields(StateKeys())), for: duration)) }

        /// The state holds at some time of the run.
        public static func sometimes(
            @LineBuilder _ fields: (StateKeys) -> [FieldCondition]
        ) -> Expectation { Expectation(.sometimes(.state(fields(StateKeys())))) }

        /// These fields stay as they are.
        public static func unchanged(
            for duration: Duration, @LineBuilder _ fields: (StateKeys) -> [String]
        ) -> Expectation { Expectation(.unchanged(fields(StateKeys()), for: duration)) }

        /// The gateway has accepted all that the client sent, and the endpoint holds it, cut to its profile.
        public static func holdsWhatWasPublished(within: Duration) -> Expectation {
            Expectation(.holdsWhatWasPublished(within: within))
        }

        // MARK: Words about messages

        /// This message crosses the connection within the time.
        public static func message(
            _ name: MessageName, within: Duration,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            Expectation(.message(MessageDraft(name: name, conditions: fields(MessageKeys())), within: within))
        }

        /// This message does not cross.
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

        /// This message crosses at some time of the run.
        public static func sometimes(
            _ name: MessageName,
            @LineBuilder where fields: (MessageKeys) -> [FieldCondition] = { _ in [] }
        ) -> Expectation {
            Expectation(.sometimes(.message(MessageDraft(name: name, conditions: fields(MessageKeys())))))
        }

        /// At most so many messages in any interval, and at least so many in each.
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

        /// Less than this time to the first message, between two, and from the last one to the end.
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

        /// These events one after the other; others may be between them.
        ///
        /// - Parameters:
        ///   - events: 2 to 64.
        ///   - within: The time in which all of them happen.
        /// - Returns: The expectation.
        public static func inOrder(_ events: Event..., within: Duration) -> Expectation {
            Expectation(.inOrder(events, within: within))
        }

        /// So many of this message.
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

        /// The last request ends so.
        public static func outcome(_ outcome: RequestResult, within: Duration) -> Expectation {
            Expectation(.outcome(outcome, within: within))
        }

        /// The session of an endpoint, or the drive of a client, ends for this reason.
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
