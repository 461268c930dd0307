internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension ChargeStop {
    typealias Wire = Waymark__V1__ChargeStop

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__charge_stop__init) { wire in
            if let arrival = self.arrivalBatteryPerMille {
                unsafe wire.pointee.arrival_case = WAYMARK__V1__CHARGE_STOP__ARRIVAL_ARRIVAL_BATTERY_PER_MILLE
                unsafe wire.pointee.arrival_battery_per_mille = UInt32(arrival)
            }
            if let departure = self.departureBatteryPerMille {
                unsafe wire.pointee.departure_case =
                    WAYMARK__V1__CHARGE_STOP__DEPARTURE_DEPARTURE_BATTERY_PER_MILLE
                unsafe wire.pointee.departure_battery_per_mille = UInt32(departure)
            }
            unsafe wire.pointee.connector = .init(rawValue: self.connector?.rawValue ?? 0)
            unsafe wire.pointee.power_watts = self.powerWatts ?? 0
            unsafe wire.pointee.charging_time_seconds = self.chargingTime?.wireSeconds ?? 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(connector: .given(unsafe wire.pointee.connector))
        if unsafe wire.pointee.arrival_case == WAYMARK__V1__CHARGE_STOP__ARRIVAL_ARRIVAL_BATTERY_PER_MILLE {
            self.arrivalBatteryPerMille = UInt16(clamping: unsafe wire.pointee.arrival_battery_per_mille)
        }
        if unsafe wire.pointee.departure_case
            == WAYMARK__V1__CHARGE_STOP__DEPARTURE_DEPARTURE_BATTERY_PER_MILLE
        {
            self.departureBatteryPerMille = UInt16(clamping: unsafe wire.pointee.departure_battery_per_mille)
        }
        self.powerWatts = unsafe wire.pointee.power_watts.given
        self.chargingTime = unsafe wire.pointee.charging_time_seconds.given.map { .seconds($0) }
    }
}

extension Waypoint {
    typealias Wire = Waymark__V1__Waypoint

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__waypoint__init) { wire in
            unsafe wire.pointee.center = self.center.wire(in: arena)
            unsafe wire.pointee.location_threshold_meters = self.locationThreshold?.meters ?? 0
            unsafe (wire.pointee.n_name_variants, wire.pointee.name_variants) =
                unsafe arena.texts(self.nameVariants)
            unsafe (wire.pointee.n_address_variants, wire.pointee.address_variants) =
                unsafe arena.texts(self.addressVariants)
            unsafe (wire.pointee.n_entry_points, wire.pointee.entry_points) =
                unsafe arena.list(self.entryPoints) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.time_zone = arena.text(self.timeZone)
            if let offset = self.utcOffsetMinutes {
                unsafe wire.pointee.offset_case = WAYMARK__V1__WAYPOINT__OFFSET_UTC_OFFSET_MINUTES
                unsafe wire.pointee.utc_offset_minutes = Int32(offset)
            }
            unsafe wire.pointee.stop_kind = .init(rawValue: self.stopKind?.rawValue ?? 0)
            unsafe wire.pointee.charge = self.charge?.wire(in: arena)
            unsafe wire.pointee.id = arena.text(self.id)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(center: unsafe Coordinate(wire.pointee.center))
        self.locationThreshold = unsafe wire.pointee.location_threshold_meters.given.map { .meters($0) }
        self.nameVariants = unsafe texts(wire.pointee.n_name_variants, wire.pointee.name_variants)
        self.addressVariants = unsafe texts(wire.pointee.n_address_variants, wire.pointee.address_variants)
        self.entryPoints = unsafe list(wire.pointee.n_entry_points, wire.pointee.entry_points) {
            unsafe Coordinate($0)
        }
        self.timeZone = unsafe text(wire.pointee.time_zone)
        if unsafe wire.pointee.offset_case == WAYMARK__V1__WAYPOINT__OFFSET_UTC_OFFSET_MINUTES {
            self.utcOffsetMinutes = Int16(clamping: unsafe wire.pointee.utc_offset_minutes)
        }
        self.stopKind = .given(unsafe wire.pointee.stop_kind)
        self.charge = unsafe wire.pointee.charge.map { unsafe ChargeStop($0) }
        self.id = unsafe text(wire.pointee.id)
    }
}

extension RouteChoice {
    typealias Wire = Waymark__V1__RouteChoice

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__route_choice__init) { wire in
            unsafe wire.pointee.id = self.id
            unsafe (wire.pointee.n_summary_variants, wire.pointee.summary_variants) =
                unsafe arena.texts(self.summaryVariants)
            unsafe (
                wire.pointee.n_additional_information_variants, wire.pointee.additional_information_variants
            ) = unsafe arena.texts(self.additionalInformationVariants)
            unsafe (wire.pointee.n_selection_summary_variants, wire.pointee.selection_summary_variants) =
                unsafe arena.texts(self.selectionSummaryVariants)
            unsafe wire.pointee.travel_estimates = self.travelEstimates?.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: unsafe wire.pointee.id,
            summaryVariants: unsafe texts(wire.pointee.n_summary_variants, wire.pointee.summary_variants),
            additionalInformationVariants: unsafe texts(
                wire.pointee.n_additional_information_variants, wire.pointee.additional_information_variants),
            selectionSummaryVariants: unsafe texts(
                wire.pointee.n_selection_summary_variants, wire.pointee.selection_summary_variants),
            travelEstimates: unsafe wire.pointee.travel_estimates.map { unsafe TravelEstimates($0) })
    }
}

extension Trip {
    typealias Wire = Waymark__V1__Trip

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__trip__init) { wire in
            unsafe wire.pointee.id = arena.text(self.id)
            unsafe wire.pointee.origin = self.origin.wire(in: arena)
            unsafe wire.pointee.destination = self.destination.wire(in: arena)
            unsafe (wire.pointee.n_waypoints, wire.pointee.waypoints) = unsafe arena.list(self.waypoints) {
                unsafe $0.wire(in: arena)
            }
            unsafe (wire.pointee.n_route_choices, wire.pointee.route_choices) =
                unsafe arena.list(self.routeChoices) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.selected_route_choice_id = self.selectedRouteChoice ?? 0
            unsafe wire.pointee.destination_shareable = self.isDestinationShareable ? 1 : 0
            unsafe wire.pointee.route_segments_available = self.routeSegmentsAvailable ? 1 : 0
            unsafe wire.pointee.travel_estimates = self.travelEstimates?.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: unsafe text(wire.pointee.id), origin: unsafe Waypoint(wire.pointee.origin),
            destination: unsafe Waypoint(wire.pointee.destination),
            waypoints: unsafe list(wire.pointee.n_waypoints, wire.pointee.waypoints) { unsafe Waypoint($0) },
            routeChoices: unsafe list(wire.pointee.n_route_choices, wire.pointee.route_choices) {
                unsafe RouteChoice($0)
            })
        self.selectedRouteChoice = unsafe wire.pointee.selected_route_choice_id.given
        self.isDestinationShareable = unsafe wire.pointee.destination_shareable != 0
        self.routeSegmentsAvailable = unsafe wire.pointee.route_segments_available != 0
        self.travelEstimates = unsafe wire.pointee.travel_estimates.map { unsafe TravelEstimates($0) }
    }
}

extension PublicationOutline.NamedTrip {
    private typealias Field = FieldNumber.Trip

    /// The ids of a trip, and what it allows. Checks that fields do not contradict each other.
    init(checking trip: WireMessage) throws(Rejection) {
        let choices = try trip.elements(Field.routeChoices, "route_choices") {
            $0.number(FieldNumber.RouteChoice.id)
        }
        try checkUnique(choices, "route_choices")
        if let selected = trip.number(Field.selectedRouteChoiceId).given, !choices.contains(selected) {
            throw Rejection(
                .unknownReference, field: "selected_route_choice_id", reason: "is not one of route_choices")
        }
        self.init(
            id: trip.identifier(Field.id), routeChoices: choices,
            allows: PublicationOutline.Trip(
                isDestinationShareable: trip.flag(Field.destinationShareable),
                routeSegmentsAvailable: trip.flag(Field.routeSegmentsAvailable)))
    }

    /// A list of trips, no two of the same id. Checks that fields do not contradict each other.
    static func list(checking wire: WireMessage, _ field: Int) throws(Rejection) -> [Self] {
        let trips = try wire.elements(field, "trips") { trip throws(Rejection) in try Self(checking: trip) }
        try checkUnique(trips.map(\.id), "trips")
        return trips
    }
}
