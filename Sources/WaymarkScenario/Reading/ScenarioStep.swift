package import WaymarkConfiguration
internal import WaymarkHistory
package import WaymarkModel
package import WaymarkProtocol

extension Scenario {
    /// One step: it waits, acts, and expects.
    package struct Step: Sendable, Hashable {
        /// What a step waits for before it acts.
        package enum Waiting: Sendable, Hashable {
            case nothing
            /// The drive of the first client is there.
            case position(Position)
            case time(Duration)
            /// At most so long.
            case event(Event, within: Duration)
        }

        package var location: SourceLocation
        /// For the report.
        package var name: String?
        package var waiting = Waiting.nothing
        package var action: Action?
        package var faults: [Fault] = []
        package var expectations: [Expected] = []
        package init(at location: SourceLocation) { self.location = location }
    }

    /// What a vehicle or a client does.
    package struct Action: Sendable, Hashable {
        package let actor: PeerSelector
        package let kind: Kind
        package let location: SourceLocation

        package enum Kind: Sendable, Hashable {
            // Of a vehicle.
            case request(Request)
            /// The id of a request; empty: of the last one.
            case withdraw(String)
            case answerPrompt(accept: Bool)
            case answerDestination(accept: Bool)
            case cancel(CancelReason)
            case allowGuidance
            case set(Settings)
            case routeSource(RouteSource)
            /// A trip of the previews, and one of its route choices.
            case selectPreview(trip: String, routeChoice: UInt32?)
            case routeFeedback(Feedback)
            /// The id of a preview; empty: the trip that is driven.
            case wantDestination(trip: String)
            case zoom(ZoomDirection)
            /// A simulated drive, and its speed as a multiple of the real one.
            case simulateDrive(SimulationAction, speed: Double)
            /// Without an action: it is dismissed.
            case respondToAlert(UInt32, action: UInt32?)
            case read(Reading)
            // Of both.
            case leave(Leaving)
            case comeBack(withToken: Bool)
            // Of a client.
            case drive(route: Reference?, startAt: Position?, speed: Double?)
            case end(Ending)
            case pause(PauseReason)
            case resume
            case standFor(Duration)
            case reroute(Reference, RerouteReason)
            case alert(Alert)
            case dismissAlert(UInt32)
            case shareDestination
            /// Empty: hides them.
            case preview([Reference])
        }

        package struct Request: Sendable, Hashable {
            package enum Place: Sendable, Hashable {
                case waypoint(Coordinate), destination(Coordinate)
                /// A request that is not for a place: the start of a trip of the previews.
                case trip(String, routeChoice: UInt32?)
            }
            package var place: Place
            package var name = ""
            package var segment = ""
            package var stopKind: StopKind?
            /// nil: one of the rig.
            package var id: String?

            package init(
                place: Place, name: String = "", segment: String = "", stopKind: StopKind? = nil,
                id: String? = nil
            ) {
                self.place = place
                self.name = name
                self.segment = segment
                self.stopKind = stopKind
                self.id = id
            }
        }

        package struct Settings: Sendable, Hashable {
            package var isReady: Bool?
            package var contentStyle: ContentStyle?
            package var compass: ClusterSetting?
            package var speedLimit: ClusterSetting?
            /// Bits: 1 keyboard, 2 lists.
            package var limitedUserInterfaces: UInt32?

            package init(
                isReady: Bool? = nil, contentStyle: ContentStyle? = nil, compass: ClusterSetting? = nil,
                speedLimit: ClusterSetting? = nil, limitedUserInterfaces: UInt32? = nil
            ) {
                self.isReady = isReady
                self.contentStyle = contentStyle
                self.compass = compass
                self.speedLimit = speedLimit
                self.limitedUserInterfaces = limitedUserInterfaces
            }
        }

        package struct Feedback: Sendable, Hashable {
            package var stops: [StopFeedback]
            package var firstUnreachableSegment: String?
            /// nil: that of the route that the endpoint has.
            package var generation: UInt32?

            package init(
                stops: [StopFeedback], firstUnreachableSegment: String? = nil, generation: UInt32? = nil
            ) {
                self.stops = stops
                self.firstUnreachableSegment = firstUnreachableSegment
                self.generation = generation
            }
        }

        package enum Reading: Sendable, Hashable {
            case nothing(for: Duration)
            /// From now on; 0: as they come.
            case bytesPerSecond(Int)
        }

        package enum Leaving: String, Sendable, Hashable, CaseIterable { case goodbye, cut }
        package enum Ending: String, Sendable, Hashable, CaseIterable { case finish, cancel }

        package struct Alert: Sendable, Hashable {
            package var id: UInt32
            package var title: String
            package var subtitle = ""
            package var actions: [String] = []
            /// nil: until it is dismissed.
            package var duration: Duration?
            package var notification: NotificationStyle?
            package var priority: AlertPriority?

            package init(
                id: UInt32, title: String, subtitle: String = "", actions: [String] = [],
                duration: Duration? = nil, notification: NotificationStyle? = nil,
                priority: AlertPriority? = nil
            ) {
                self.id = id
                self.title = title
                self.subtitle = subtitle
                self.actions = actions
                self.duration = duration
                self.notification = notification
                self.priority = priority
            }
        }

        package init(
            actor: PeerSelector, kind: Kind, location: SourceLocation
        ) {
            self.actor = actor
            self.kind = kind
            self.location = location
        }
    }

    /// A fault of a connection or of the gateway.
    package struct Fault: Sendable, Hashable {
        package enum Kind: String, Sendable, Hashable, CaseIterable {
            case delay, jitter, throttle, slice, stall, cut, drop, duplicate, reorder, corrupt, refuse
            case blackhole, chaos
            case halfClose = "half-close"
        }

        package enum GatewayFault: String, Sendable, Hashable, CaseIterable { case kill, stop, restart }
        package enum Way: String, Sendable, Hashable, CaseIterable { case gateway, peer, both }
        package enum CutEnding: String, Sendable, Hashable, CaseIterable { case rst, fin }

        package enum Target: Sendable, Hashable {
            case gateway(GatewayFault)
            /// nil: the connections of all peers.
            case link(PeerSelector?, Kind)
        }

        package var target: Target
        package var towards = Way.both
        /// delay: how long; jitter: how long at most.
        package var by = Duration.zero
        package var bytesPerSecond = 0
        /// slice: how many bytes at a time.
        package var bytes = 0
        package var ending = CutEnding.rst
        /// nil: at once.
        package var after: Event?
        /// Of the frame that is the event, or of the next one: 0 is before its first byte.
        package var atByte: Int?
        /// So many times, then never. nil: until the end of ``duration``.
        package var times: Int?
        /// nil: to the end of the scenario.
        package var duration: Duration?
        /// chaos: the mean time between two faults.
        package var every = Duration.zero
        /// chaos: which faults.
        package var kinds: [Kind] = []
        package var location: SourceLocation

        package init(
            target: Target, towards: Way = Way.both, by: Duration = Duration.zero, bytesPerSecond: Int = 0,
            bytes: Int = 0, ending: CutEnding = CutEnding.rst, after: Event? = nil, atByte: Int? = nil,
            times: Int? = nil, duration: Duration? = nil, every: Duration = Duration.zero, kinds: [Kind] = [],
            location: SourceLocation
        ) {
            self.target = target
            self.towards = towards
            self.by = by
            self.bytesPerSecond = bytesPerSecond
            self.bytes = bytes
            self.ending = ending
            self.after = after
            self.atByte = atByte
            self.times = times
            self.duration = duration
            self.every = every
            self.kinds = kinds
            self.location = location
        }
    }

    /// A message that crosses, a state that begins to hold, or a line that a program prints.
    package struct Event: Sendable, Hashable {
        package var pattern: EventPattern
        /// The n-th time. nil: the first; of an expectation's `when`: each.
        package var count: Int?
        package var location: SourceLocation

        package init(
            pattern: EventPattern, count: Int? = nil, location: SourceLocation
        ) {
            self.pattern = pattern
            self.count = count
            self.location = location
        }
    }

    /// What must be, or must not.
    package struct Expected: Sendable, Hashable {
        package var word: Word
        /// Whose connection or state.
        package var of: PeerSelector
        /// Why it matters, for the report.
        package var because: String?
        /// It begins with this event, each time.
        package var when: Event?
        package var location: SourceLocation

        package init(_ word: Word, of: PeerSelector, at location: SourceLocation) {
            (self.word, self.of, self.location) = (word, of, location)
        }
    }

    /// One of the words, with what it needs. Times that are nil last to the end of the scenario.
    package enum Word: Sendable, Hashable {
        case message(MessagePattern, within: Duration)
        case prints(LinePattern, within: Duration)
        case eventually(StatePattern, within: Duration)
        case always(StatePattern, for: Duration?)
        case never(EventPattern, for: Duration?)
        case sometimes(EventPattern)
        case rate(MessagePattern, atMost: Int?, atLeast: Int?, per: Duration, for: Duration?)
        case gap(MessagePattern, below: Duration, for: Duration?)
        case inOrder([Event], within: Duration)
        case exactly(Int, MessagePattern, for: Duration?)
        case unchanged([FieldPath], for: Duration)
        /// The longest delay that a client may be told, until content was on the display.
        case shownWithin(Duration, for: Duration?)
        case outcome(Outcome, within: Duration)
        case holdsWhatWasPublished(within: Duration)
        /// nil: at the end of the scenario.
        case ended(SessionEndReason, within: Duration?)
    }
}

extension Scenario.Word {
    /// The time within which something must happen; nil of words that last.
    package var window: Duration? {
        switch self {
        case .message(_, let within), .prints(_, let within), .eventually(_, let within),
            .inOrder(_, let within),
            .outcome(_, let within), .holdsWhatWasPublished(let within):
            within
        case .ended(_, let within): within
        case .always, .never, .sometimes, .rate, .gap, .exactly, .unchanged, .shownWithin: nil
        }
    }
}
