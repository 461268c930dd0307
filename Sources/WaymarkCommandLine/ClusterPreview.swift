internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkTexts

/// The trips that a client offers before guidance, and what the vehicle's user has chosen among them.
struct ClusterPreview: Sendable, Hashable {
    let trips: [Trip]
    private(set) var tripIndex: Int
    /// The id of the chosen route; nil for a trip without route choices.
    private(set) var route: UInt32?

    /// The client's selection, else the first trip; nil without trips.
    init?(_ trips: [Trip], selected: String) {
        guard !trips.isEmpty else { return nil }
        self.trips = trips
        self.tripIndex = trips.firstIndex { Identifier($0.id) == Identifier(selected) } ?? 0
        self.route = PreviewText.selectedChoice(of: self.trip)?.id
    }

    /// The chosen trip.
    var trip: Trip { self.trips[self.tripIndex] }

    /// Chooses the next trip, after the last one the first, on the route that its client has selected.
    mutating func chooseNextTrip() {
        self.tripIndex = (self.tripIndex + 1) % self.trips.count
        self.route = PreviewText.selectedChoice(of: self.trip)?.id
    }

    /// Chooses the route in this place, counted from 1; false if the trip has none there.
    mutating func chooseRoute(number: Int) -> Bool {
        guard self.trip.routeChoices.indices.contains(number - 1) else { return false }
        self.route = self.trip.routeChoices[number - 1].id
        return true
    }

    /// The choice, for people: `to Balzers by Landstrasse: 8.9 km, 9 min`.
    var text: String {
        let choice = self.trip.routeChoices.first { $0.id == self.route }
        return PreviewText.destination(self.trip) + (choice.map { " by \(PreviewText.route($0))" } ?? "")
    }

    /// The rows of the screen: the chosen trip, and its routes.
    func lines(client: String, columns: Int) -> [String] {
        let number = self.trips.count > 1 ? "trip \(self.tripIndex + 1) of \(self.trips.count) " : "a trip "
        let estimates = PreviewText.estimates(self.trip).map { ", \(Story.estimates($0))" } ?? ""
        let routes = self.trip.routeChoices
        let head = "  \(client) offers \(number)\(PreviewText.destination(self.trip))"
        guard routes.count > 1 else { return [Terminal.fitted(head + estimates, columns: columns)] }
        return [Terminal.fitted(head, columns: columns)]
            + routes.enumerated().map { index, choice in
                let mark = choice.id == self.route ? "▶" : " "
                return Terminal.fitted(
                    "  \(mark) [\(index + 1)] \(PreviewText.route(choice))", columns: columns)
            }
    }
}

// What the keys and the commands of the cluster do with the trips of a preview.
extension ClusterApp {
    func chooseRoute(_ key: Character, _ endpoint: VehicleEndpoint) async {
        guard let number = key.wholeNumberValue, self.preview?.chooseRoute(number: number) == true else {
            return self.show("the trip has no route \(key)")
        }
        await self.select(endpoint)
    }

    func chooseNextTrip(_ endpoint: VehicleEndpoint) async {
        self.preview?.chooseNextTrip()
        await self.select(endpoint)
    }

    /// Tells the client what is chosen.
    private func select(_ endpoint: VehicleEndpoint) async {
        guard let preview = self.preview else { return self.show("there is no trip to choose") }
        await endpoint.selectPreview(trip: preview.trip.id, routeChoice: preview.route)
        self.show("selected \(preview.text)")
    }

    /// Asks the client to start what is chosen.
    func startTrip(_ endpoint: VehicleEndpoint) {
        guard let preview = self.preview else { return self.show("there is no trip to start") }
        self.tell("the vehicle asks to start the trip \(preview.text)")
        self.startTrip(preview.trip.id, preview.route, "start \(preview.text)", of: endpoint)
    }

    /// Asks the client to start a trip; `what` names it when the outcome is shown.
    func startTrip(_ trip: String, _ route: UInt32?, _ what: String, of endpoint: VehicleEndpoint) {
        let request = UUID().uuidString
        self.lastRequest = request
        Task {
            let ending = await endpoint.request(.startTrip(trip, routeChoice: route), requestID: request)
            self.show("\(what): \(ending.explanation)")
        }
    }
}
