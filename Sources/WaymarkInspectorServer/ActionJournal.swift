internal import Foundation

/// What was done for vehicles, also for those whose endpoint has left. A value without clock.
struct ActionJournal: Sendable {
    struct Action: Sendable {
        let id: String
        let name: String
        let text: String
        let begin: Date
        /// It ends with the answer of another program, and counts as under way until then.
        let isAnswered: Bool
        /// nil while it is under way.
        var outcome: String?
        var explanation = ""
        var requestID = ""

        init(_ id: String, _ name: String, _ step: VehicleAction, isRedacted: Bool, at begin: Date) {
            (self.id, self.name, self.begin, self.isAnswered) = (id, name, begin, step.isAnswered)
            self.text = step.text(isRedacted: isRedacted)
        }
    }

    /// Kept of each vehicle.
    static let actionsMax = 50
    /// The vehicle whose last action is the oldest is forgotten first.
    static let vehiclesMax = 64

    /// By vehicle, oldest first.
    private var actions: [String: [Action]] = [:]

    /// Oldest first.
    subscript(vehicle: String) -> [Action] { self.actions[vehicle] ?? [] }

    /// Of all vehicles, those that another program must answer.
    var answeredCount: Int {
        self.actions.values.reduce(0) { $0 + $1.count { $0.isAnswered && $0.outcome == nil } }
    }

    /// Whether something is under way for a vehicle.
    func isBusy(_ vehicle: String) -> Bool { self[vehicle].contains { $0.outcome == nil } }

    /// Whether a request of this vehicle waits for its answer.
    func isOpen(request: String, of vehicle: String) -> Bool {
        self[vehicle].contains { $0.requestID == request && $0.outcome == nil }
    }

    /// Adds an action. What is under way is never forgotten.
    mutating func add(_ action: Action, of vehicle: String) {
        if self.actions[vehicle] == nil, self.actions.count >= Self.vehiclesMax {
            let ended = self.actions.filter { !self.isBusy($0.key) }
            let oldest = ended.min {
                ($0.value.last?.begin ?? .distantPast) < ($1.value.last?.begin ?? .distantPast)
            }
            if let oldest { self.actions[oldest.key] = nil }
        }
        var list = self[vehicle] + [action]
        if list.count > Self.actionsMax, let first = list.firstIndex(where: { $0.outcome != nil }) {
            list.remove(at: first)
        }
        self.actions[vehicle] = list
    }

    /// The action is a request with this id.
    mutating func name(_ id: String, of vehicle: String, request: String) {
        guard let index = self[vehicle].firstIndex(where: { $0.id == id }) else { return }
        self.actions[vehicle]?[index].requestID = request
    }

    /// The first outcome of an action counts.
    mutating func end(_ id: String, of vehicle: String, _ outcome: String, _ explanation: String = "") {
        guard let index = self[vehicle].firstIndex(where: { $0.id == id && $0.outcome == nil }) else {
            return
        }
        self.actions[vehicle]?[index].outcome = outcome
        self.actions[vehicle]?[index].explanation = explanation
    }

    /// The endpoint that spoke for a vehicle leaves: no answer will come.
    mutating func endpointLeaves(_ vehicle: String) {
        for action in self[vehicle] where action.outcome == nil { self.endLeft(action.id, of: vehicle) }
    }

    /// This action gets no answer, because the endpoint has left.
    mutating func endLeft(_ id: String, of vehicle: String) {
        self.end(id, of: vehicle, "endpointLeft", "the endpoint of the inspector left before an answer came")
    }
}
