package import WaymarkModel

/// How near a maneuver is when it is announced, called out and carried out. The client's choice, not the protocol's.
package struct ManeuverStateThresholds: Sendable, Hashable {
    /// Distances before a maneuver, in metres, from the farthest to the nearest.
    package struct Distances: Sendable, Hashable {
        /// From here on the state is `initial`.
        package var initial: Double
        /// From here on the state is `prepare`.
        package var prepare: Double
        /// From here on the state is `execute`.
        package var execute: Double
        /// From here on lanes are shown.
        package var lanes: Double

        package init(initial: Double, prepare: Double, execute: Double, lanes: Double) {
            self.initial = initial
            self.prepare = prepare
            self.execute = execute
            self.lanes = lanes
        }

        /// The state at `meters` before a maneuver.
        package func state(at meters: Double) -> ManeuverState {
            if meters <= self.execute { return .execute }
            if meters <= self.prepare { return .prepare }
            return meters <= self.initial ? .initial : .continue
        }
    }

    /// On ordinary roads: 1 000, 200 and 35 m; lanes from 400 m.
    package var ordinary = Distances(initial: 1_000, prepare: 200, execute: 35, lanes: 400)
    /// On motorways: 3 000, 800 and 100 m; lanes from 1 200 m.
    package var motorway = Distances(initial: 3_000, prepare: 800, execute: 100, lanes: 1_200)
    /// Roads that are driven this fast count as motorways, in metres per second: 90 km/h.
    package var motorwaySpeed = 25.0

    package init() {}

    /// The distances that hold on a road.
    package func distances(isMotorway: Bool, speed: Double) -> Distances {
        isMotorway || speed >= self.motorwaySpeed ? self.motorway : self.ordinary
    }
}
