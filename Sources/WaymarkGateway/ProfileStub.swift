internal import WaymarkProtocol

extension Profile {
    init(hello: VehicleHello, withheld: Set<Feature>) {
        self.init(limits: hello.limits, distanceUnits: hello.preferences.distanceUnits, withheld: withheld)
    }
}
