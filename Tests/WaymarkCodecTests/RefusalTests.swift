import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// A frame that must be refused, and what must be said about it.
struct Refusal: CustomTestStringConvertible, Sendable {
    let frame: Frame
    let code: ErrorCode
    let field: String
    let line: Int

    init(_ message: Message, _ code: ErrorCode, _ field: String, line: Int = #line) {
        self.frame = Codec.encode(Envelope(message))
        self.code = code
        self.field = field
        self.line = line
    }

    init(_ publication: Publication, _ code: ErrorCode, _ field: String, line: Int = #line) {
        self.init(.publication(publication), code, field, line: line)
    }

    init(
        _ type: MessageType, _ code: ErrorCode, _ field: String, line: Int = #line,
        write: (inout WireWriter) -> Void
    ) {
        self.frame = Frame(type, body: WireWriter.body(write))
        self.code = code
        self.field = field
        self.line = line
    }

    var testDescription: String { "line \(self.line): \(self.field) is \(self.code)" }
}

/// A changed copy.
func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}

private let long = String(repeating: "x", count: 513)
private let nine = [String](repeating: "x", count: 9)
private let maneuver = Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn)
private let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
private let trip = Trip(id: "t", origin: place, destination: place)
private let segment = RouteSegment(id: "s", origin: place, destination: place)
private let estimates = TravelEstimates(distanceRemaining: .meters(1))
private let guidance = LaneGuidance(id: LaneGuidanceID(rawValue: 1), lanes: [Lane(angles: [])])
private let alert = NavigationAlert(id: 1, titleVariants: ["x"])
private let vehicle = VehicleID(unchecked: "v")
private let endpoint = EndpointName(unchecked: "e")

private func maneuver(_ change: (inout Maneuver) -> Void) -> Publication {
    .addManeuvers([maneuver, with(maneuver) { $0 = with($0, change) }], generation: 1)
}

private func guidance(_ change: (inout LaneGuidance) -> Void) -> Publication {
    .addLaneGuidances([with(guidance, change)], generation: 1)
}

private func destination(_ change: (inout Waypoint) -> Void) -> Publication {
    .shareDestination(shareID: "s", with(place, change))
}

private func trip(_ change: (inout Trip) -> Void) -> Publication { .updateTrip(with(trip, change)) }

private func segment(_ change: (inout RouteSegment) -> Void) -> Publication {
    .addRouteSegments([with(segment, change)], generation: 1)
}

private func estimates(_ change: (inout TravelEstimates) -> Void) -> Publication {
    .tripEstimates(with(estimates, change), .default)
}

private func alert(_ change: (inout NavigationAlert) -> Void) -> Publication {
    .showAlert(with(alert, change))
}

private func hello(_ change: (inout Hello) -> Void) -> Message {
    .hello(
        with(Hello(role: .vehicle(VehicleHello(vehicle: vehicle, endpoint: endpoint, features: []))), change))
}

@Suite struct RefusalTests {
    static let units: [Refusal] = [
        Refusal(destination { $0.center.latitude = 90.1 }, .outOfRange, "destination.center.latitude"),
        Refusal(destination { $0.center.latitude = .nan }, .outOfRange, "destination.center.latitude"),
        Refusal(destination { $0.center.longitude = -180.1 }, .outOfRange, "destination.center.longitude"),
        Refusal(
            destination { $0.center.longitude = .infinity }, .outOfRange, "destination.center.longitude"),
        Refusal(
            destination { $0.center.altitude = 100_001 }, .outOfRange, "destination.center.altitude_meters"),
        Refusal(
            estimates { $0.distanceRemaining = .meters(50_000_001) }, .outOfRange,
            "travel_estimates.distance_remaining_meters"),
        Refusal(
            estimates { $0.timeRemaining = .seconds(31_536_001) }, .outOfRange,
            "travel_estimates.time_remaining_seconds"),
        Refusal(
            estimates { $0.distanceRemainingToDisplay = .init(valueTenths: 100_000_000, unit: .feet) },
            .outOfRange, "travel_estimates.distance_remaining_to_display.value_tenths"),
        Refusal(
            estimates {
                $0.distanceRemainingToDisplay = .init(valueTenths: 1, unit: .unrecognized(0))
            }, .missing, "travel_estimates.distance_remaining_to_display.unit"),
        Refusal(.updateTripEstimates, .missing, "travel_estimates") { _ in },
        Refusal(
            segment {
                $0.coordinates = [.init(latitude: 47, longitude: 9), .init(latitude: 91, longitude: 9)]
            },
            .outOfRange, "segments[0].coordinates.latitude_e6_deltas[1]"),
        Refusal(
            segment { $0.coordinates = [.init(latitude: 47, longitude: 180.1)] }, .outOfRange,
            "segments[0].coordinates.longitude_e6_deltas[0]"),
        Refusal(.addRouteSegments, .inconsistent, "segments[0].coordinates.longitude_e6_deltas") {
            $0.message(2) { segment in
                segment.text(1, "s")
                segment.message(2) { $0.message(1) { _ in } }
                segment.message(3) { $0.message(1) { _ in } }
                segment.message(4) {
                    $0.packed(1, [2, 2])
                    $0.packed(2, [2])
                }
            }
        },
    ]

    static let maneuvers: [Refusal] = [
        Refusal(maneuver { $0.id = .init(rawValue: 0) }, .missing, "maneuvers[1].id"),
        Refusal(.addManeuvers, .missing, "maneuvers[0].id") { $0.message(2) { $0.number(1, 0) } },
        Refusal(maneuver { _ in }, .duplicate, "maneuvers[1].id"),
        Refusal(
            maneuver { $0.instructionVariants = nine }, .outOfRange, "maneuvers[1].instruction_variants[8]"),
        Refusal(
            maneuver { $0.instructionVariants = ["", long] }, .outOfRange,
            "maneuvers[1].instruction_variants[1]"),
        Refusal(
            maneuver { $0.roadFollowingManeuverVariants = [long] }, .outOfRange,
            "maneuvers[1].road_following_maneuver_variants[0]"),
        Refusal(
            maneuver { $0.highwayExitLabel = String(repeating: "1", count: 65) }, .outOfRange,
            "maneuvers[1].highway_exit_label"),
        Refusal(.addManeuvers, .outOfRange, "maneuvers[0].junction_exit_angle_degrees") {
            $0.message(2) {
                $0.number(1, 1)
                $0.signed(8, 181)
            }
        },
        Refusal(.addManeuvers, .outOfRange, "maneuvers[0].junction_element_angles_degrees[1]") {
            $0.message(2) {
                $0.number(1, 1)
                $0.packed(9, [WireWriter.zigzag(-180), WireWriter.zigzag(-181)])
            }
        },
        Refusal(
            maneuver {
                $0.junctionExitAngle = .degrees(90)
                $0.junctionElementAngles = [.degrees(0), .degrees(90)]
            }, .inconsistent, "maneuvers[1].junction_element_angles_degrees[1]"),
        // 180 and -180 are the same angle.
        Refusal(.addManeuvers, .inconsistent, "maneuvers[0].junction_element_angles_degrees[1]") {
            $0.message(2) {
                $0.number(1, 1)
                $0.signed(8, 180)
                $0.packed(9, [WireWriter.zigzag(0), WireWriter.zigzag(-180)])
            }
        },
        Refusal(
            maneuver { $0.junctionElementAngles = (0...32).map { .degrees($0) } }, .outOfRange,
            "maneuvers[1].junction_element_angles_degrees[32]"),
        Refusal(
            maneuver { $0.initialTravelEstimates = .init(distanceRemaining: .meters(.max)) }, .outOfRange,
            "maneuvers[1].initial_travel_estimates.distance_remaining_meters"),
        Refusal(.addManeuvers, .outOfRange, "maneuvers[0].roundabout_exit_number") {
            $0.message(2) {
                $0.number(1, 1)
                $0.number(12, 256)
            }
        },
        Refusal(
            .addManeuvers(
                (1...4_097).map { Maneuver(id: .init(rawValue: $0), type: .uTurn) }, generation: 1),
            .outOfRange, "maneuvers[4096]"),
    ]

    static let lanes: [Refusal] = [
        Refusal(guidance { $0.id = .init(rawValue: 0) }, .missing, "lane_guidances[0].id"),
        Refusal(
            .addLaneGuidances([guidance, guidance], generation: 1), .duplicate, "lane_guidances[1].id"),
        Refusal(guidance { $0.lanes = [] }, .missing, "lane_guidances[0].lanes"),
        Refusal(
            guidance { $0.lanes = .init(repeating: Lane(angles: []), count: 33) }, .outOfRange,
            "lane_guidances[0].lanes[32]"),
        Refusal(
            guidance { $0.lanes = [Lane(angles: (0...16).map { .degrees($0) })] }, .outOfRange,
            "lane_guidances[0].lanes[0].angles_degrees[16]"),
        Refusal(
            guidance {
                $0.lanes = [Lane(angles: [.degrees(0)], highlightedAngle: .degrees(1), status: .good)]
            }, .inconsistent, "lane_guidances[0].lanes[0].highlighted_angle_degrees"),
        Refusal(
            guidance {
                $0.lanes = [Lane(angles: [.degrees(0)], highlightedAngle: .degrees(0), status: .notGood)]
            }, .inconsistent, "lane_guidances[0].lanes[0].highlighted_angle_degrees"),
        Refusal(
            guidance { $0.instructionVariants = nine }, .outOfRange,
            "lane_guidances[0].instruction_variants[8]"),
    ]

    static let trips: [Refusal] = [
        Refusal(trip { $0.id = "" }, .missing, "trip.id"),
        Refusal(trip { $0.id = String(repeating: "x", count: 129) }, .outOfRange, "trip.id"),
        Refusal(.updateTrip, .missing, "trip") { _ in },
        Refusal(.updateTrip, .missing, "trip.origin") {
            $0.message(1) {
                $0.text(1, "t")
                $0.message(3) { $0.message(1) { _ in } }
            }
        },
        Refusal(.updateTrip, .missing, "trip.origin.center") {
            $0.message(1) {
                $0.text(1, "t")
                $0.message(2) { _ in }
            }
        },
        Refusal(
            trip { $0.waypoints = .init(repeating: place, count: 65) }, .outOfRange, "trip.waypoints[64]"),
        Refusal(
            trip { $0.routeChoices = (1...4).map { RouteChoice(id: $0) } }, .outOfRange,
            "trip.route_choices[3]"),
        Refusal(trip { $0.routeChoices = [RouteChoice(id: 0)] }, .missing, "trip.route_choices[0].id"),
        Refusal(
            trip { $0.routeChoices = [RouteChoice(id: 1), RouteChoice(id: 1)] }, .duplicate,
            "trip.route_choices[1].id"),
        Refusal(
            trip { $0.routeChoices = [RouteChoice(id: 1, summaryVariants: nine)] }, .outOfRange,
            "trip.route_choices[0].summary_variants[8]"),
        Refusal(
            trip { $0.routeChoices = [RouteChoice(id: 1, additionalInformationVariants: [long])] },
            .outOfRange, "trip.route_choices[0].additional_information_variants[0]"),
        Refusal(
            trip { $0.routeChoices = [RouteChoice(id: 1, selectionSummaryVariants: [long])] }, .outOfRange,
            "trip.route_choices[0].selection_summary_variants[0]"),
        Refusal(
            trip {
                $0.routeChoices = [RouteChoice(id: 1)]
                $0.selectedRouteChoice = 2
            }, .unknownReference, "trip.selected_route_choice_id"),
        Refusal(
            .tripPreviews(.init(repeating: trip, count: 13), selected: ""), .outOfRange, "trips[12]"),
        Refusal(.tripPreviews([trip, trip], selected: ""), .duplicate, "trips[1].id"),
        // Equivalent ids are different ones.
        Refusal(
            .tripPreviews([with(trip) { $0.id = "\u{E9}" }], selected: "e\u{301}"), .unknownReference,
            "selected_trip_id"),
        Refusal(.tripPreviews([trip], selected: "u"), .unknownReference, "selected_trip_id"),
        Refusal(
            destination { $0.locationThreshold = .meters(100_001) }, .outOfRange,
            "destination.location_threshold_meters"),
        Refusal(destination { $0.nameVariants = nine }, .outOfRange, "destination.name_variants[8]"),
        Refusal(destination { $0.addressVariants = [long] }, .outOfRange, "destination.address_variants[0]"),
        Refusal(
            destination { $0.entryPoints = .init(repeating: place.center, count: 17) }, .outOfRange,
            "destination.entry_points[16]"),
        Refusal(destination { $0.timeZone = long }, .outOfRange, "destination.time_zone"),
        Refusal(destination { $0.utcOffsetMinutes = 841 }, .outOfRange, "destination.utc_offset_minutes"),
        Refusal(destination { $0.id = long }, .outOfRange, "destination.id"),
        Refusal(
            destination { $0.charge = .init(arrivalBatteryPerMille: 1_001) }, .outOfRange,
            "destination.charge.arrival_battery_per_mille"),
        Refusal(
            destination { $0.charge = .init(departureBatteryPerMille: 1_001) }, .outOfRange,
            "destination.charge.departure_battery_per_mille"),
        Refusal(
            destination { $0.charge = .init(powerWatts: 10_000_001) }, .outOfRange,
            "destination.charge.power_watts"),
        Refusal(
            destination { $0.charge = .init(chargingTime: .seconds(604_801)) }, .outOfRange,
            "destination.charge.charging_time_seconds"),
        Refusal(.shareDestination(shareID: "", place), .missing, "share_id"),
        Refusal(.shareDestination, .missing, "destination") { $0.text(1, "s") },
    ]

    static let routes: [Refusal] = [
        Refusal(segment { $0.id = "" }, .missing, "segments[0].id"),
        Refusal(.addRouteSegments([segment, segment], generation: 1), .duplicate, "segments[1].id"),
        Refusal(
            .addRouteSegments(
                (0..<66).map { i in with(segment) { $0.id = "\(i)" } }, generation: 1), .outOfRange,
            "segments[65]"),
        Refusal(
            segment { $0.currentManeuvers = .init(repeating: .init(rawValue: 1), count: 65) }, .outOfRange,
            "segments[0].current_maneuver_ids[64]"),
        Refusal(
            segment { $0.destination.center.latitude = 91 }, .outOfRange,
            "segments[0].destination.center.latitude"),
        Refusal(.startGuidance, .missing, "trip") { $0.message(3) { _ in } },
        Refusal(
            .startGuidance(trip, generation: 1, .init(maneuvers: [maneuver, maneuver])), .duplicate,
            "route.maneuvers[1].id"),
        Refusal(
            .resumeGuidance(generation: 1, .missedTurn, .init(segments: [segment, segment])), .duplicate,
            "route.segments[1].id"),
        Refusal(
            .resumeGuidance(generation: 1, .missedTurn, .init(currentSegment: long)), .outOfRange,
            "route.current_segment_id"),
        Refusal(
            .upcomingManeuvers(.init(repeating: .init(rawValue: 1), count: 65), generation: 1), .outOfRange,
            "maneuver_ids[64]"),
        Refusal(.currentRoadName(nine), .outOfRange, "name_variants[8]"),
        Refusal(.currentRouteSegment("", generation: 1), .missing, "segment_id"),
        Refusal(
            .maneuverEstimates(.init(rawValue: 0), estimates, generation: 1), .missing, "maneuver_id"),
        Refusal(.pauseGuidance(.unrecognized(0), description: []), .missing, "reason"),
        Refusal(.pauseGuidance(.arrived, description: [long]), .outOfRange, "description_variants[0]"),
        Refusal(alert { $0.id = 0 }, .missing, "alert.id"),
        Refusal(alert { $0.titleVariants = [] }, .missing, "alert.title_variants"),
        Refusal(alert { $0.subtitleVariants = nine }, .outOfRange, "alert.subtitle_variants[8]"),
        Refusal(
            alert { $0.actions = (1...3).map { .init(id: $0, titleVariants: ["x"]) } }, .outOfRange,
            "alert.actions[2]"),
        Refusal(
            alert { $0.actions = [.init(id: 3, titleVariants: ["x"])] }, .outOfRange, "alert.actions[0].id"),
        Refusal(
            alert { $0.actions = [.init(id: 1, titleVariants: [])] }, .missing,
            "alert.actions[0].title_variants"),
        Refusal(
            alert { $0.actions = .init(repeating: .init(id: 2, titleVariants: ["x"]), count: 2) }, .duplicate,
            "alert.actions[1].id"),
        Refusal(alert { $0.duration = .seconds(601) }, .outOfRange, "alert.duration_milliseconds"),
        Refusal(.dismissAlert(0, .timeout), .missing, "alert_id"),
        Refusal(.dismissAlert, .missing, "alert_id") { $0.number(1, 0) },
        Refusal(.showAlert, .missing, "alert.id") {
            $0.message(1) {
                $0.number(1, 0)
                $0.text(2, "x")
            }
        },
        Refusal(.alertResponse, .missing, "alert_id") { $0.number(2, 1) },
        Refusal(.alertResponse, .missing, "alert_id") { $0.number(1, 0) },
    ]

    /// What every Welcome needs besides its token.
    private static func gateway(_ writer: inout WireWriter) {
        writer.bytes(12, Array("a".utf8))
        writer.number(13, 1)
    }

    static let handshake: [Refusal] = [
        Refusal(.hello, .missing, "version_min") { _ in },
        Refusal(.hello, .inconsistent, "version_max") {
            $0.number(1, 2)
            $0.number(2, 1)
            $0.number(3, 2)
            $0.message(5) { $0.text(1, "c") }
        },
        Refusal(.hello, .outOfRange, "role") {
            $0.number(1, 1)
            $0.number(2, 1)
            $0.number(3, 4)
        },
        Refusal(.hello, .missing, "observer") {
            $0.number(1, 1)
            $0.number(2, 1)
            $0.number(3, 3)
        },
        Refusal(.hello, .inconsistent, "observer") {
            $0.number(1, 1)
            $0.number(2, 1)
            $0.number(3, 2)
            $0.message(5) { $0.text(1, "c") }
            $0.message(15) { $0.text(1, "o") }
        },
        Refusal(.hello, .missing, "vehicle") {
            $0.number(1, 1)
            $0.number(2, 1)
            $0.number(3, 1)
        },
        Refusal(.hello, .inconsistent, "vehicle") {
            $0.number(1, 1)
            $0.number(2, 1)
            $0.number(3, 2)
            $0.message(4) {
                $0.text(1, "v")
                $0.text(2, "e")
            }
            $0.message(5) { $0.text(1, "c") }
        },
        Refusal(
            hello {
                $0.role = .vehicle(.init(vehicle: .init(unchecked: "a b"), endpoint: endpoint, features: []))
            }, .invalidText, "vehicle.vehicle_id"),
        Refusal(
            hello {
                $0.role = .vehicle(
                    .init(vehicle: vehicle, endpoint: .init(unchecked: long), features: []))
            }, .outOfRange, "vehicle.endpoint"),
        Refusal(
            hello { $0.role = .navigation(.init(client: .init(unchecked: ""), features: [])) }, .missing,
            "navigation.client_id"),
        Refusal(
            hello {
                $0.role = .navigation(
                    with(.init(client: .init(unchecked: "c"), features: [])) { $0.priority = -1_001 })
            }, .outOfRange, "navigation.priority"),
        Refusal(
            hello {
                $0.role = .vehicle(
                    with(.init(vehicle: vehicle, endpoint: endpoint, features: [])) {
                        $0.preferences.locale = String(repeating: "d", count: 36)
                    })
            }, .outOfRange, "vehicle.preferences.locale"),
        Refusal(
            hello {
                $0.role = .vehicle(
                    with(.init(vehicle: vehicle, endpoint: endpoint, features: [])) {
                        $0.receiveFrameBytesMax = 4_095
                    })
            }, .outOfRange, "receive_frame_bytes_max"),
        Refusal(hello { $0.displayName = String(repeating: "x", count: 129) }, .outOfRange, "display_name"),
        Refusal(hello { $0.software = long }, .outOfRange, "software"),
        Refusal(
            hello { $0.credential = Credential(.init(repeating: 1, count: 257)) }, .outOfRange, "credential"),
        Refusal(
            hello {
                $0.negotiatedLimits = .page
                $0.negotiatedLimits?.routeSegmentsMax = 64
            }, .outOfRange, "negotiated_limits.route_segments_max"),
        Refusal(hello { $0.keepaliveMilliseconds = 999 }, .outOfRange, "keepalive_milliseconds"),
        Refusal(hello { $0.keepaliveMilliseconds = 600_001 }, .outOfRange, "keepalive_milliseconds"),
        Refusal(hello { $0.sendFrameBytesMax = 4_095 }, .outOfRange, "send_frame_bytes_max"),
        Refusal(.welcome, .outOfRange, "resumption_token") {
            $0.number(1, 1)
            $0.bytes(5, [1, 2, 3])
        },
        Refusal(.welcome, .missing, "resumption_token") { $0.number(1, 1) },
        Refusal(.welcome, .missing, "features[0].reason") {
            $0.number(1, 1)
            $0.message(2) { $0.number(1, 1) }
            $0.bytes(5, .init(repeating: 0, count: 16))
            Self.gateway(&$0)
        },
        Refusal(.welcome, .inconsistent, "features[0].reason") {
            $0.number(1, 1)
            $0.message(2) {
                $0.number(1, 1)
                $0.number(2, 1)
                $0.number(3, 1)
            }
            $0.bytes(5, .init(repeating: 0, count: 16))
            Self.gateway(&$0)
        },
        Refusal(.welcome, .missing, "gateway_instance") {
            $0.number(1, 1)
            $0.bytes(5, .init(repeating: 0, count: 16))
            $0.number(13, 1)
        },
        Refusal(.welcome, .missing, "gateway_epoch") {
            $0.number(1, 1)
            $0.bytes(5, .init(repeating: 0, count: 16))
            $0.bytes(12, Array("a".utf8))
        },
        Refusal(
            .welcome(
                with(Welcome(resumptionToken: .init(high: 1, low: 2))) {
                    $0.sessions = [
                        .init(session: .init(1), sequence: 0, phase: .active, endReason: .finished)
                    ]
                }), .inconsistent, "sessions[0].end_reason"),
        Refusal(.goodbye(Goodbye(.normal, reason: long)), .outOfRange, "reason"),
        Refusal(.goodbye, .missing, "code") { _ in },
        Refusal(.error, .outOfRange, "message_type") {
            $0.number(1, 1)
            $0.number(4, 65_536)
        },
    ]

    static let sessions: [Refusal] = [
        Refusal(.openSession(.init(requestID: "", vehicles: .anyThatAsked)), .missing, "request_id"),
        Refusal(.openSession, .missing, "vehicles") { $0.text(1, "r") },
        Refusal(
            .openSession(.init(requestID: "r", vehicles: .vehicles([]))), .missing, "vehicles.vehicle_ids"),
        Refusal(
            .openSession(.init(requestID: "r", vehicles: .vehicles([vehicle, vehicle]))), .duplicate,
            "vehicles.vehicle_ids[1]"),
        Refusal(
            .openSession(
                .init(
                    requestID: "r", vehicles: .vehicles((0...256).map { .init(unchecked: "v\($0)") }))),
            .outOfRange, "vehicles.vehicle_ids[256]"),
        Refusal(.openSession, .inconsistent, "any_that_asked") {
            $0.text(1, "r")
            $0.message(2) { $0.text(1, "v") }
            $0.number(3, 1)
        },
        Refusal(
            .openSession(.init(requestID: "r", vehicles: .anyThatAsked, receiptsEveryMilliseconds: 99)),
            .outOfRange, "receipts_every_milliseconds"),
        Refusal(.vehicleChanged, .missing, "vehicle.refusal") {
            $0.message(1) {
                $0.text(1, "v")
                $0.number(2, 3)
            }
        },
        Refusal(.vehicleChanged, .inconsistent, "vehicle.end_reason") {
            $0.message(1) {
                $0.text(1, "v")
                $0.number(2, 1)
                $0.number(4, 1)
            }
        },
        Refusal(.vehicleChanged, .outOfRange, "vehicle.standing") {
            $0.message(1) {
                $0.text(1, "v")
                $0.number(2, 2_147_483_648)
            }
        },
        Refusal(.snapshotBegin, .outOfRange, "kind") { $0.number(1, 3) },
        Refusal(.receipt(.init(receivedSequence: 1, shownSequence: 2)), .inconsistent, "shown_sequence"),
        Refusal(
            .receiptReport(
                .init(
                    gatewaySequence: 1,
                    endpoints: [
                        .init(
                            vehicle: vehicle, endpoint: endpoint,
                            receipt: .init(receivedSequence: 1, shownSequence: 2))
                    ])), .inconsistent, "endpoints[0].shown_sequence"),
    ]

    static let requests: [Refusal] = [
        Refusal(
            .waypointRequest(.init(requestID: Identifier(long), waypoint: place)), .outOfRange, "request_id"),
        Refusal(.waypointRequest, .missing, "waypoint") { $0.text(1, "r") },
        Refusal(
            .waypointRequest(.init(requestID: "r", waypoint: place, segment: Identifier(long))), .outOfRange,
            "segment_id"),
        Refusal(
            .destinationRequest(
                .init(requestID: "r", destination: place, vehicle: .init(unchecked: "ü"))), .invalidText,
            "vehicle_id"),
        Refusal(.requestAnswer, .missing, "travel_estimates") {
            $0.text(1, "r")
            $0.text(2, "v")
            $0.number(3, 1)
        },
        Refusal(.requestAnswer, .inconsistent, "travel_estimates") {
            $0.text(1, "r")
            $0.text(2, "v")
            $0.number(3, 2)
            $0.message(4) { _ in }
        },
        Refusal(.requestAnswer, .missing, "reason") {
            $0.text(1, "r")
            $0.text(2, "v")
            $0.number(3, 4)
        },
        Refusal(.requestAnswer, .inconsistent, "reason") {
            $0.text(1, "r")
            $0.text(2, "v")
            $0.number(3, 3)
            $0.number(5, 3)
        },
        Refusal(
            .requestAnswer(.init(requestID: "r", vehicle: vehicle, answer: .decline(.gone))), .outOfRange,
            "reason"),
        Refusal(.prompt, .missing, "travel_estimates") {
            $0.text(1, "r")
            $0.message(2) { $0.message(1) { _ in } }
        },
        Refusal(.promptOver, .missing, "outcome") { $0.text(1, "r") },
        Refusal(.cancelNavigation, .missing, "reason") { _ in },
        Refusal(.zoomCluster, .missing, "direction") { _ in },
        Refusal(.zoomCluster, .inconsistent, "endpoint") {
            $0.number(1, 1)
            $0.text(2, "v")
        },
        Refusal(.vehicleSettings, .inconsistent, "vehicle_id") { $0.text(7, "e") },
        Refusal(.selectPreview, .missing, "trip_id") { $0.number(2, 1) },
        Refusal(.selectPreview, .inconsistent, "endpoint") {
            $0.text(1, "t")
            $0.text(3, "v")
        },
        Refusal(.startTripRequest, .missing, "request_id") { $0.text(2, "t") },
        Refusal(.startTripRequest, .missing, "trip_id") { $0.text(1, "r") },
        Refusal(.simulateDrive, .missing, "action") { _ in },
        Refusal(.simulateDrive, .inconsistent, "vehicle_id") {
            $0.number(1, 1)
            $0.text(5, "e")
        },
        Refusal(.simulateDrive, .outOfRange, "speed_percent") {
            $0.number(1, 1)
            $0.number(2, 100_001)
        },
        Refusal(.alertResponse(.init(alert: 1, response: .action(3))), .outOfRange, "action_id"),
        Refusal(.alertResponse, .inconsistent, "dismissal") {
            $0.number(1, 1)
            $0.number(2, 1)
            $0.number(3, 1)
        },
        Refusal(.destinationShareStatus, .missing, "outcome") {
            $0.text(1, "s")
            $0.text(2, "v")
            $0.number(3, 3)
        },
        Refusal(.destinationShareStatus, .inconsistent, "outcome") {
            $0.text(1, "s")
            $0.text(2, "v")
            $0.number(3, 1)
            $0.number(4, 1)
        },
    ]

    @Test(arguments: units + maneuvers + lanes + trips + routes + handshake + sessions + requests)
    func `a value out of its range is refused by name`(_ refusal: Refusal) throws {
        let error = #expect(throws: DecodingError.self) { try Codec.decode(refusal.frame) }
        guard case .rejected(let rejection) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rejection.code == refusal.code, "\(rejection)")
        #expect(rejection.field == refusal.field, "\(rejection)")
        #expect(rejection.messageType == refusal.frame.header.rawType)
        if MessageType.published.contains(refusal.frame.header.rawType) {
            #expect(throws: DecodingError.rejected(rejection)) { try Codec.outline(of: refusal.frame) }
        }
    }

    @Test func `a rejection names the frame and the request`() throws {
        let request = WaypointRequest(requestID: "r-7", waypoint: with(place) { $0.utcOffsetMinutes = 900 })
        let frame = Codec.encode(Envelope(.waypointRequest(request), session: SessionID(3), sequence: 9))
        var expected = Rejection(
            .outOfRange, field: "waypoint.utc_offset_minutes", reason: "not within -840 ... 840")
        expected.messageType = MessageType.waypointRequest.rawValue
        expected.session = SessionID(3)
        expected.sequence = 9
        expected.requestID = "r-7"
        #expect(throws: DecodingError.rejected(expected)) { try Codec.decode(frame) }
    }
}
