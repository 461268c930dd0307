public import WaymarkModel
internal import WaymarkProtocol

extension Rig {
    /// The fields of an endpoint's state, by the keys of Docs/cluster-json.md and Docs/testing.md. A key that is not here, such as
    /// `maneuvers[0].type`, is named by its text: `$0["maneuvers[0].type"] == "rightTurn"`; a misspelt one is a ``RigError`` that
    /// lists the nearest keys, before any time passes.
    ///
    /// A state counts only when it is complete: not within a snapshot, and not between the parts of a publication. `connected`,
    /// `resumed` and `shows` count always.
    public struct StateKeys: Sendable {
        package init() {}

        /// Any field.
        public subscript(_ key: String) -> Field<Operand> { Field(key) }

        // MARK: Connection

        /// The endpoint is connected.
        public var connected: Field<Bool> { Field("connected") }
        /// It is connected, and continued what it held.
        public var resumed: Field<Bool> { Field("resumed") }
        /// How many events of its session, since it joined, it did not get.
        public var missed: Field<Int> { Field("missed") }
        /// What its display shows.
        public var shows: Field<Shown> { Field("shows") }

        // MARK: What is next

        /// The first upcoming maneuver.
        public var next: NextKeys { NextKeys() }
        /// The lanes to show now.
        public var lanes: LaneKeys { LaneKeys() }

        // MARK: Guidance

        /// What guidance does.
        public var phase: Field<Phase> { Field("phase") }
        /// Why guidance is paused.
        public var pauseReason: Field<PauseReason> { Field("pauseReason") }
        /// Why guidance ended, as in the protocol's SessionEnded, e.g. `finished`.
        public var endReason: Field<String> { Field("endReason") }
        /// The id of the session; 0 without one.
        public var session: Field<Int> { Field("session") }
        /// The name of the client that guides.
        public var client: Field<String> { Field("client") }
        /// The client is away.
        public var suspended: Field<Bool> { Field("suspended") }
        /// How often the route was replaced.
        public var generation: Field<Int> { Field("generation") }
        /// The ids of the upcoming maneuvers.
        public var upcomingManeuvers: Field<[Int]> { Field("upcomingManeuvers") }
        /// How near the next maneuver is.
        public var maneuverState: Field<ManeuverState> { Field("maneuverState") }
        /// The id of the lanes to show now.
        public var currentLaneGuidance: Field<Int> { Field("currentLaneGuidance") }
        /// The id of the route segment that the vehicle is on.
        public var currentSegment: Field<String> { Field("currentSegment") }
        /// The variants of the road's name.
        public var currentRoadName: Field<[String]> { Field("currentRoadName") }
        /// How the remaining time compares with the usual one.
        public var timeRemainingColor: Field<TimeRemainingColor> { Field("timeRemainingColor") }

        // MARK: Whole values, for `unchanged` and `isAbsent`

        /// The trip.
        public var trip: WholeField { WholeField("trip") }
        /// All maneuvers that it stores.
        public var maneuvers: WholeField { WholeField("maneuvers") }
        /// All lane guidances that it stores.
        public var laneGuidances: WholeField { WholeField("laneGuidances") }
        /// The segments of the route.
        public var segments: WholeField { WholeField("segments") }
        /// Distance and time to the destination.
        public var tripEstimates: WholeField { WholeField("tripEstimates") }
        /// Distance and time to each maneuver.
        public var maneuverEstimates: WholeField { WholeField("maneuverEstimates") }
        /// Trips to choose from.
        public var previews: WholeField { WholeField("previews") }
        /// The alert that is shown.
        public var alert: WholeField { WholeField("alert") }
        /// What is withheld from it, and why.
        public var withheld: WholeField { WholeField("withheld") }
    }

    /// Fields of the first upcoming maneuver.
    public struct NextKeys: Sendable {
        /// Its id.
        public var id: Field<Int> { Field("next.id") }
        /// What to do.
        public var type: Field<ManeuverType> { Field("next.type") }
        /// The true distance.
        public var distance: Field<Distance> { Field("next.distance") }
        /// The distance to display.
        public var displayed: Field<Distance> { Field("next.displayed") }
        /// The time until it.
        public var time: Field<Duration> { Field("next.time") }
        /// The road behind it, in its longest variant.
        public var road: Field<String> { Field("next.road") }
        /// What to do in words, in its longest variant.
        public var instruction: Field<String> { Field("next.instruction") }
        /// The direction of the exit.
        public var exitAngle: Field<Angle> { Field("next.exitAngle") }
        /// The kind of junction.
        public var junction: Field<JunctionType> { Field("next.junction") }
        /// The side on which traffic drives.
        public var side: Field<TrafficSide> { Field("next.side") }
    }

    /// Fields of the lanes to show now. Lanes have numbers from 1, from the left.
    public struct LaneKeys: Sendable {
        /// How many there are.
        public var count: Field<Int> { Field("lanes.count") }
        /// Those with an arrow to follow.
        public var highlighted: Field<[Int]> { Field("lanes.highlighted") }
        /// Those that are preferred.
        public var preferred: Field<[Int]> { Field("lanes.preferred") }
        /// Those that are good.
        public var good: Field<[Int]> { Field("lanes.good") }
        /// What to do in words, in its longest variant.
        public var instruction: Field<String> { Field("lanes.instruction") }
    }

    /// What guidance does.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// There is none.
        case idle
        /// Trips are shown to choose from.
        case preview
        /// It guides.
        case active
        /// It is paused.
        case paused
        /// It has ended.
        case ended
    }

    /// What a display shows.
    public enum Shown: String, Sendable, Hashable, CaseIterable {
        /// What the client publishes.
        case fresh
        /// What it holds while it, or the client, is not connected.
        case stale
        /// Nothing.
        case none
        /// ``stale`` or ``none``.
        case staleOrNone = "stale-or-none"
    }

    /// The fields of a message, by the keys of Docs/cluster-json.md.
    public struct MessageKeys: Sendable {
        /// A field, e.g. `$0["tripEstimates.distanceMeters"] < "2km"`. A misspelt key is a ``RigError`` that lists the nearest ones.
        public subscript(_ key: String) -> Field<Operand> { Field(key) }
    }
}
