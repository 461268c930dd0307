package import WaymarkModel

/// Words for the trips of a preview, for people.
package enum PreviewText {
    /// A trip, e.g. `to Balzers`.
    package static func destination(_ trip: Trip) -> String { "to \(Story.name(trip.destination))" }

    /// A route choice with its estimates, e.g. `Landstrasse: 8.9 km, 9 min`.
    package static func route(_ choice: RouteChoice) -> String {
        let name = choice.summaryVariants.first ?? "route \(choice.id)"
        return choice.travelEstimates.map { "\(name): \(Story.estimates($0))" } ?? name
    }

    /// A trip with what it takes: the estimates of its only route, or each of its routes.
    package static func trip(_ trip: Trip) -> String {
        guard trip.routeChoices.count > 1 else {
            let estimates = self.estimates(trip)
            return self.destination(trip) + (estimates.map { ", \(Story.estimates($0))" } ?? "")
        }
        return "\(self.destination(trip)) by \(trip.routeChoices.map(self.route).joined(separator: "; "))"
    }

    /// The estimates of a trip: its own, else those of its selected route, else of its first one; nil if it has none.
    package static func estimates(_ trip: Trip) -> TravelEstimates? {
        trip.travelEstimates ?? self.selectedChoice(of: trip)?.travelEstimates
    }

    /// The selected route choice of a trip, else its first one; nil for a trip without any.
    package static func selectedChoice(of trip: Trip) -> RouteChoice? {
        trip.routeChoices.first { $0.id == trip.selectedRouteChoice } ?? trip.routeChoices.first
    }
}
