internal import WaymarkModel
internal import WaymarkRoutes

/// The trip that vehicles are shown before guidance, and the route of it that they have chosen.
struct PreviewedTrip: Sendable {
    let id: String
    private let answer: RouteAnswer
    /// The place of the chosen route in the answer.
    private var index = 0
    /// The vehicle whose request to start was accepted, and whose outcome is still open; nil for none.
    var asker: String?
    /// Whether a vehicle has started it.
    private(set) var isStarted = false

    /// The trip of an answer; its best route is chosen.
    init(_ answer: RouteAnswer, id: String) {
        self.answer = answer
        self.id = id
    }

    /// The chosen route.
    var route: EngineRoute { self.answer.routes[self.index] }
    /// The trip on the chosen route, as it is driven.
    var trip: Trip { self.answer.trip(id: self.id, choosing: self.index) }
    /// The trip as vehicles are shown it, with what the chosen route takes.
    var shown: Trip { self.answer.preview(id: self.id, choosing: self.index) }

    /// Starts the trip on a route.
    mutating func start(on choice: UInt32?) {
        guard !self.isStarted, self.choose(choice) else { return }
        self.isStarted = true
    }

    /// Chooses a route by the id of its choice; nil is the one that is chosen already. False if the trip has no such route.
    mutating func choose(_ choice: UInt32?) -> Bool {
        guard let choice else { return true }
        guard self.trip.routeChoices.contains(where: { $0.id == choice }) else { return false }
        // The ids count the routes from 1.
        self.index = Int(choice) - 1
        return true
    }
}
