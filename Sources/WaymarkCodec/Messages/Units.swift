internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension WireEnumeration {
    /// Reads a generated enumeration.
    init<Wire: RawRepresentable>(wire: Wire) where Wire.RawValue == UInt32 {
        self.init(rawValue: wire.rawValue)
    }

    /// Reads a generated enumeration whose 0 means "not given".
    static func given<Wire: RawRepresentable>(_ wire: Wire) -> Self? where Wire.RawValue == UInt32 {
        wire.rawValue == 0 ? nil : Self(rawValue: wire.rawValue)
    }
}

extension Duration {
    /// Whole seconds, rounded down; what a field cannot hold becomes a number that is outside of every range.
    var wireSeconds: UInt32 { UInt32(exactly: self.components.seconds) ?? .max }
}

/// The angle of a field of type sint32 as it is on the wire, in which 180 and -180 are the same angle.
func canonicalAngle(_ zigzag: UInt32) -> UInt32 { zigzag == 360 ? 359 : zigzag }

extension Coordinate {
    typealias Wire = Waymark__V1__Coordinate

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__coordinate__init) { wire in
            unsafe wire.pointee.latitude = self.latitude
            unsafe wire.pointee.longitude = self.longitude
            if let altitude = self.altitude {
                unsafe wire.pointee.altitude_case = WAYMARK__V1__COORDINATE__ALTITUDE_ALTITUDE_METERS
                unsafe wire.pointee.altitude_meters = altitude
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        let hasAltitude =
            unsafe wire.pointee.altitude_case == WAYMARK__V1__COORDINATE__ALTITUDE_ALTITUDE_METERS
        self.init(
            latitude: unsafe wire.pointee.latitude, longitude: unsafe wire.pointee.longitude,
            altitude: hasAltitude ? unsafe wire.pointee.altitude_meters : nil)
    }
}

/// A line of points as differences of whole 1e-6 degrees; altitudes are not carried.
enum LineCoding {
    typealias Wire = Waymark__V1__Polyline
    private static let unitsPerDegree = 1e6

    static func wire(_ coordinates: [Coordinate], in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__polyline__init) { wire in
            let latitudes = unsafe Self.deltas(coordinates, \.latitude, in: arena)
            unsafe (wire.pointee.n_latitude_e6_deltas, wire.pointee.latitude_e6_deltas) = unsafe latitudes
            let longitudes = unsafe Self.deltas(coordinates, \.longitude, in: arena)
            unsafe (wire.pointee.n_longitude_e6_deltas, wire.pointee.longitude_e6_deltas) = unsafe longitudes
        }
    }

    /// Why the absolute values are rounded: rounded differences would drift along the line.
    private static func deltas(
        _ coordinates: [Coordinate], _ degrees: KeyPath<Coordinate, Double>, in arena: Arena
    ) -> (count: Int, items: UnsafeMutablePointer<Int32>?) {
        var before: Int32 = 0
        return unsafe arena.list(coordinates) { coordinate in
            let units = (coordinate[keyPath: degrees] * Self.unitsPerDegree).rounded()
            // What is not on the Earth makes a sum that is refused.
            let absolute = Int32(exactly: units) ?? .max
            defer { before = absolute }
            return absolute &- before
        }
    }

    static func coordinates(_ wire: UnsafeMutablePointer<Wire>?) -> [Coordinate] {
        guard let wire = unsafe wire else { return [] }
        var latitude = 0
        var longitude = 0
        return (0..<(unsafe wire.pointee.n_latitude_e6_deltas)).map { index in
            latitude += Int(unsafe wire.pointee.latitude_e6_deltas[index])
            longitude += Int(unsafe wire.pointee.longitude_e6_deltas[index])
            return Coordinate(
                latitude: Double(latitude) / Self.unitsPerDegree,
                longitude: Double(longitude) / Self.unitsPerDegree)
        }
    }
}

extension DisplayDistance {
    typealias Wire = Waymark__V1__DisplayDistance

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__display_distance__init) { wire in
            unsafe wire.pointee.value_tenths = self.valueTenths
            unsafe wire.pointee.unit = .init(rawValue: self.unit.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(valueTenths: unsafe wire.pointee.value_tenths, unit: .init(wire: unsafe wire.pointee.unit))
    }
}

extension TravelEstimates {
    typealias Wire = Waymark__V1__TravelEstimates

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__travel_estimates__init) { wire in
            unsafe wire.pointee.distance_remaining_meters = self.distanceRemaining.meters
            if let time = self.timeRemaining {
                unsafe wire.pointee.time_case = WAYMARK__V1__TRAVEL_ESTIMATES__TIME_TIME_REMAINING_SECONDS
                unsafe wire.pointee.time_remaining_seconds = time.wireSeconds
            }
            unsafe wire.pointee.distance_remaining_to_display = self.distanceRemainingToDisplay?.wire(
                in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        let hasTime =
            unsafe wire.pointee.time_case == WAYMARK__V1__TRAVEL_ESTIMATES__TIME_TIME_REMAINING_SECONDS
        self.init(
            distanceRemaining: .meters(unsafe wire.pointee.distance_remaining_meters),
            timeRemaining: hasTime ? .seconds(unsafe wire.pointee.time_remaining_seconds) : nil,
            distanceRemainingToDisplay: unsafe wire.pointee.distance_remaining_to_display.map {
                unsafe DisplayDistance($0)
            })
    }
}
