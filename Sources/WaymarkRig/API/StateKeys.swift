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

        /// Whether the endpoint is connected.
        public var connected: Field<Bool> { Field("connected") }
        /// Whether the endpoint is connected, and continued what it held.
        public var resumed: Field<Bool> { Field("resumed") }
        /// The number of events of its session, since it joined, that it did not get.
        public var missed: Field<Int> { Field("missed") }
        /// The contents of its display: fresh, stale or none.
        public var shows: Field<Shown> { Field("shows") }

        // MARK: What is next

        /// The first upcoming maneuver.
        public var next: NextKeys { NextKeys() }
        /// The lanes to show now.
        public var lanes: LaneKeys { LaneKeys() }

        // MARK: Guidance

        /// The phase of guidance.
        public var phase: Field<Phase> { Field("phase") }
        /// The reason why guidance is paused.
        public var pauseReason: Field<PauseReason> { Field("pauseReason") }
        /// The reason why guidance ended, as in the protocol's SessionEnded, e.g. `finished`.
        public var endReason: Field<String> { Field("endReason") }
        /// The id of the session; 0 without one.
        public var session: Field<Int> { Field("session") }
        /// The name of the client that guides.
        public var client: Field<String> { Field("client") }
        /// Whether the client is away.
        public var suspended: Field<Bool> { Field("suspended") }
        /// The number of the route; it rises each time that the route is replaced.
        public var generation: Field<Int> { Field("generation") }
        /// The ids of the upcoming maneuvers.
        public var upcomingManeuvers: Field<[Int]> { Field("upcomingManeuvers") }
        /// The state of the next maneuver: how near it is.
        public var maneuverState: Field<ManeuverState> { Field("maneuverState") }
        /// The id of the lanes to show now.
        public var currentLaneGuidance: Field<Int> { Field("currentLaneGuidance") }
        /// The id of the route segment that the vehicle is on.
        public var currentSegment: Field<String> { Field("currentSegment") }
        /// The colour of the remaining time: how it compares with the usual one.
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
        /// The speed limit where the vehicle is; its parts by their texts, e.g. `$0["speedLimit.value"] == 80`.
        public var speedLimit: WholeField { WholeField("speedLimit") }
        /// The next different speed limit, e.g. `$0["nextSpeedLimit.distanceMeters"] < "2km"`.
        public var nextSpeedLimit: WholeField { WholeField("nextSpeedLimit") }
        /// Trips to choose from.
        public var previews: WholeField { WholeField("previews") }
        /// The trip of the previews that is selected, e.g. `$0["selectedPreview"] == "preview-2"`.
        public var selectedPreview: WholeField { WholeField("selectedPreview") }
        /// The alert that is shown.
        public var alert: WholeField { WholeField("alert") }
        /// The features that are withheld from it, and why.
        public var withheld: WholeField { WholeField("withheld") }
    }

    /// Fields of the first upcoming maneuver.
    public struct NextKeys: Sendable {
        /// Its id.
        public var id: Field<Int> { Field("next.id") }
        /// The type of maneuver: what to do.
        public var type: Field<ManeuverType> { Field("next.type") }
        /// The true distance.
        public var distance: Field<Distance> { Field("next.distance") }
        /// The distance to display.
        public var displayed: Field<Distance> { Field("next.displayed") }
        /// The time until it.
        public var time: Field<Duration> { Field("next.time") }
        /// The road behind it, in its longest variant.
        public var road: Field<String> { Field("next.road") }
        /// The instruction: what to do in words, in its longest variant.
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
        /// The number of lanes.
        public var count: Field<Int> { Field("lanes.count") }
        /// The lanes with an arrow to follow.
        public var highlighted: Field<[Int]> { Field("lanes.highlighted") }
        /// The lanes that are preferred.
        public var preferred: Field<[Int]> { Field("lanes.preferred") }
        /// The lanes that are good.
        public var good: Field<[Int]> { Field("lanes.good") }
        /// The instruction: what to do in words, in its longest variant.
        public var instruction: Field<String> { Field("lanes.instruction") }
    }

    /// The phase of guidance.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// No guidance.
        case idle
        /// A preview: trips are shown to choose from.
        case preview
        /// Active guidance.
        case active
        /// Paused guidance.
        case paused
        /// Ended guidance.
        case ended
    }

    /// The contents of a display.
    public enum Shown: String, Sendable, Hashable, CaseIterable {
        /// The values that the client publishes.
        case fresh
        /// The values that the display holds while it, or the client, is not connected.
        case stale
        /// No values.
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
