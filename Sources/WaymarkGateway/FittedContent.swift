package import WaymarkModel
package import WaymarkProtocol

extension Profile {
    /// What an endpoint of this profile holds of a session, once everything has arrived.
    ///
    /// - Parameters:
    ///   - retained: What the session retains, in the publisher's order.
    ///   - lastNamed: The maneuvers that were named last as upcoming ones, if the newest publication names none.
    /// - Returns: What the endpoint would be sent if it joined now. Its content is what endpoints hold that joined before.
    package func fit(_ retained: [Publication], lastNamed: [ManeuverID] = []) -> [Publication] {
        self.parts(of: retained, lastNamed: lastNamed).flatMap(\.self)
    }

    /// As ``fit(_:lastNamed:)``, for each publication; empty for one of which nothing is sent.
    package func parts(of retained: [Publication], lastNamed: [ManeuverID] = []) -> [[Publication]] {
        guard !self.isIdentity else { return retained.map { [$0] } }
        var route = StoredRoute()
        for publication in retained { route.apply(publication) }
        route.name(lastNamed, nil)
        var view = FittedView(profile: self)
        return retained.map { publication in
            switch view.fit(publication, route) {
            case .asReceived: [publication]
            case .fitted(let publications): publications
            }
        }
    }
}
