package import WaymarkModel
package import WaymarkProtocol

/// What fitting depends on. Endpoints with equal profiles share their bytes.
package struct Profile: Sendable, Hashable {
    package var limits: VehicleLimits
    package var distanceUnits: DistanceUnits
    /// Content features that are withheld.
    package var withheld: Set<Feature>

    /// Creates a profile; ``isIdentity`` if there is nothing to cut.
    package init(
        limits: VehicleLimits = .init(), distanceUnits: DistanceUnits = .asPublished,
        withheld: Set<Feature> = []
    ) {
        self.limits = limits
        self.distanceUnits = distanceUnits
        self.withheld = withheld
    }

    /// Nothing is cut: the endpoint receives the published bytes themselves.
    package var isIdentity: Bool { self == Profile() }
}
