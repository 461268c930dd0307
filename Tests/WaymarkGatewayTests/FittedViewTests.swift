import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// A view together with the route that a session would keep for it.
struct ViewOfRoute {
    var view: FittedView
    var route = StoredRoute()

    init(_ profile: Profile) { self.view = FittedView(profile: profile) }

    /// What an endpoint is sent for a publication.
    mutating func fit(_ publication: Publication) -> [Publication] {
        self.route.apply(publication)
        switch self.view.fit(publication, self.route) {
        case .asReceived: return [publication]
        case .fitted(let publications): return publications
        }
    }
}

@Suite struct FittedViewTests {
    private static func ids(_ rawValues: UInt32...) -> [ManeuverID] {
        rawValues.map { ManeuverID(rawValue: $0) }
    }

    private static func maneuvers(_ range: ClosedRange<UInt32>) -> [Maneuver] {
        range.map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) }
    }

    private static func laneGuidances(_ range: ClosedRange<UInt32>) -> [LaneGuidance] {
        range.map { LaneGuidance(id: LaneGuidanceID(rawValue: $0), lanes: [Lane(angles: [])]) }
    }

    /// A view of a route of nine maneuvers and lane guidances by an endpoint that stores a few.
    private static func started(maneuvers: UInt32 = 0, laneGuidances: UInt32 = 0) -> ViewOfRoute {
        var limits = VehicleLimits()
        limits.maneuversStoredMax = maneuvers
        limits.laneGuidancesStoredMax = laneGuidances
        var view = ViewOfRoute(Profile(limits: limits))
        let route = RouteInformation(
            maneuvers: Self.maneuvers(1...9), laneGuidances: Self.laneGuidances(1...9),
            upcomingManeuvers: Self.ids(1, 2, 3))
        _ = view.fit(.startGuidance(World.trip, generation: 1, route))
        return view
    }

    @Test(
        arguments: [
            ("Landstrasse", 5, "Land…"), ("Landstrasse", 2, "L…"), ("Landstrasse", 1, nil),
            // At the end of a word that leaves at least half; the ellipsis follows the word.
            ("Vaduz Castle", 6, "Vaduz…"), ("Vaduz Castle", 7, "Vaduz…"), ("Vaduz Castle", 11, "Vaduz…"),
            ("A Landstrasse", 9, "A Landst…"), ("One two three", 9, "One two…"), ("One  two", 6, "One…"),
            ("  Gasse", 4, "  G…"), ("   Gasse", 3, nil),
            // A family of five scalars, which is not split.
            ("x👨‍👩‍👦 y", 6, "x…"), ("👨‍👩‍👦 Weg", 6, "👨‍👩‍👦…"), ("👨‍👩‍👦", 4, nil),
        ] as [(String, UInt32, String?)])
    func `a text that is too long ends with an ellipsis`(_ text: String, _ lengthMax: UInt32, _ cut: String?)
    {
        #expect(Profile.fit([text], lengthMax) == (cut.map { [$0] } ?? []))
    }

    @Test func `texts are cut to what fits, between characters only when none fits`() {
        var limits = VehicleLimits()
        limits.currentRoadNameLengthMax = 5
        let profile = Profile(limits: limits)
        var view = ViewOfRoute(profile)
        #expect(
            view.fit(.currentRoadName(["Landstrasse", "Land", "L"])) == [.currentRoadName(["Land", "L"])])
        #expect(view.fit(.currentRoadName(["Landstrasse"])) == [.currentRoadName(["Land…"])])
        #expect(view.view.fit(.currentRoadName(["Abc"]), view.route) == .asReceived)
        // With nothing before it nothing is left.
        limits.currentRoadNameLengthMax = 1
        view = ViewOfRoute(Profile(limits: limits))
        #expect(view.fit(.currentRoadName(["👨‍👩‍👦", "e\u{301}x"])) == [.currentRoadName([])])
    }

    @Test func `a title whose first character is too long is empty, for a title there must be`() {
        var limits = VehicleLimits()
        limits.alertTextLengthMax = 1
        let action = AlertAction(id: 1, titleVariants: ["👨‍👩‍👦", "OK"])
        let alert = NavigationAlert(
            id: 1, titleVariants: ["👨‍👩‍👦"], subtitleVariants: ["👨‍👩‍👦"], actions: [action])
        let fitted = Profile(limits: limits).fit(alert)
        #expect(fitted.titleVariants == [""] && fitted.subtitleVariants.isEmpty)
        #expect(fitted.actions.map(\.titleVariants) == [[""]])
    }

    @Test func `every endpoint learns what may interrupt its display`() {
        var limits = VehicleLimits()
        limits.alertTextLengthMax = 2
        limits.maneuverInstructionLengthMax = 2
        let profile = Profile(limits: limits, withheld: [.exitLabels, .laneGuidance])
        let alert = profile.fit(
            NavigationAlert(id: 1, titleVariants: ["Ice"], notification: .never, priority: .high))
        #expect(alert.titleVariants == ["I…"] && alert.notification == .never && alert.priority == .high)
        var maneuver = Self.maneuvers(1...1)[0]
        (maneuver.instructionVariants, maneuver.notification) = (["Left"], .withEstimates)
        let fitted = profile.fit(maneuver)
        #expect(fitted.instructionVariants == ["L…"] && fitted.notification == .withEstimates)
    }

    @Test func `segments keep ids of what is outside of the window, and none of a withheld feature`() {
        var segment = RouteSegment(id: "s", origin: World.place, destination: World.place)
        segment.maneuvers = Self.ids(1, 2, 3)
        segment.laneGuidances = [LaneGuidanceID(rawValue: 1), LaneGuidanceID(rawValue: 2)]
        var limits = VehicleLimits()
        (limits.maneuversStoredMax, limits.laneGuidancesStoredMax) = (1, 1)
        #expect(Profile(limits: limits).fit([segment]) == [segment])
        let without = Profile(limits: limits, withheld: [.laneGuidance]).fit([segment])[0]
        #expect(without.maneuvers == segment.maneuvers && without.laneGuidances.isEmpty)
    }

    @Test func `an upcoming maneuver that is named twice takes one slot`() {
        var view = Self.started(maneuvers: 3)
        #expect(
            view.fit(.upcomingManeuvers(Self.ids(2, 2, 3, 4), generation: 1)) == [
                .addManeuvers(Self.maneuvers(4...4), generation: 1),
                .upcomingManeuvers(Self.ids(2, 2, 3), generation: 1),
            ])
    }

    @Test func `names are cut, addresses are left out`() {
        var limits = VehicleLimits()
        limits.destinationNameLengthMax = 6
        var place = World.place
        place.nameVariants = ["Vaduz Castle"]
        place.addressVariants = ["Fürst-Franz-Josef-Strasse 150", "9490"]
        let fitted = Profile(limits: limits).fit(place)
        #expect(fitted.nameVariants == ["Vaduz…"])
        #expect(fitted.addressVariants == ["9490"])
        place.addressVariants.removeLast()
        #expect(Profile(limits: limits).fit(place).addressVariants.isEmpty)
    }

    @Test func `a step forward sends what is new, its estimates, then who is next`() {
        var view = Self.started(maneuvers: 2)
        let estimates = TravelEstimates(distanceRemaining: .meters(7))
        #expect(view.fit(.maneuverEstimates(Self.ids(3)[0], estimates, generation: 1)).isEmpty)
        #expect(
            view.fit(.upcomingManeuvers(Self.ids(2, 3, 4), generation: 1)) == [
                .addManeuvers(Self.maneuvers(3...3), generation: 1),
                .maneuverEstimates(Self.ids(3)[0], estimates, generation: 1),
                .upcomingManeuvers(Self.ids(2, 3), generation: 1),
            ])
    }

    @Test func `a step back or a jump sends the whole window, with its estimates again`() {
        var view = Self.started(maneuvers: 2)
        let estimates = TravelEstimates(distanceRemaining: .meters(7))
        _ = view.fit(.upcomingManeuvers(Self.ids(3), generation: 1))
        _ = view.fit(.maneuverEstimates(Self.ids(3)[0], estimates, generation: 1))
        #expect(
            view.fit(.upcomingManeuvers(Self.ids(8), generation: 1)) == [
                .addManeuvers(Self.maneuvers(8...9), generation: 1),
                .upcomingManeuvers(Self.ids(8), generation: 1),
            ])
        #expect(
            view.fit(.upcomingManeuvers(Self.ids(3), generation: 1)) == [
                .addManeuvers(Self.maneuvers(3...4), generation: 1),
                .maneuverEstimates(Self.ids(3)[0], estimates, generation: 1),
                .upcomingManeuvers(Self.ids(3), generation: 1),
            ])
    }

    @Test func `no upcoming maneuver leaves the window where it is`() {
        var view = Self.started(maneuvers: 2)
        _ = view.fit(.upcomingManeuvers(Self.ids(4), generation: 1))
        #expect(
            view.fit(.upcomingManeuvers([], generation: 1)) == [.upcomingManeuvers([], generation: 1)])
        #expect(
            view.fit(.upcomingManeuvers(Self.ids(5), generation: 1)) == [
                .addManeuvers(Self.maneuvers(6...6), generation: 1),
                .upcomingManeuvers(Self.ids(5), generation: 1),
            ])
    }

    @Test func `at the end of the route the window stays full, and grows with the route`() {
        var view = Self.started(maneuvers: 3)
        _ = view.fit(.upcomingManeuvers(Self.ids(7), generation: 1))
        #expect(
            view.fit(.upcomingManeuvers(Self.ids(9), generation: 1)) == [
                .upcomingManeuvers(Self.ids(9), generation: 1)
            ])
        #expect(
            view.fit(.addManeuvers(Self.maneuvers(10...12), generation: 1)) == [
                .addManeuvers(Self.maneuvers(10...11), generation: 1)
            ])
    }

    @Test func `lane guidances start with the first ones, and stay while none is current`() {
        var view = Self.started(laneGuidances: 2)
        func current(_ id: UInt32?) -> Publication {
            .currentLaneGuidance(id.map { LaneGuidanceID(rawValue: $0) }, generation: 1)
        }
        #expect(view.fit(current(1)) == [current(1)])
        #expect(view.fit(current(nil)) == [current(nil)])
        #expect(
            view.fit(current(2)) == [
                .addLaneGuidances(Self.laneGuidances(3...3), generation: 1), current(2),
            ])
    }

    @Test func `the example in the protocol's page`() {
        var limits = VehicleLimits()
        limits.maneuversStoredMax = 2
        var view = ViewOfRoute(Profile(limits: limits))
        func route(_ range: ClosedRange<UInt32>, _ upcoming: [ManeuverID]) -> Publication {
            .startGuidance(
                World.trip, generation: 1,
                RouteInformation(maneuvers: Self.maneuvers(range), upcomingManeuvers: upcoming))
        }
        func upcoming(_ ids: UInt32...) -> Publication {
            .upcomingManeuvers(ids.map { ManeuverID(rawValue: $0) }, generation: 1)
        }
        func add(_ range: ClosedRange<UInt32>) -> Publication {
            .addManeuvers(Self.maneuvers(range), generation: 1)
        }
        #expect(view.fit(route(1...5, Self.ids(1, 2, 3))) == [route(1...2, Self.ids(1, 2))])
        #expect(view.fit(upcoming(2, 3, 4)) == [add(3...3), upcoming(2, 3)])
        #expect(view.fit(upcoming()) == [upcoming()])
        #expect(view.fit(upcoming(5)) == [add(4...5), upcoming(5)])
        #expect(view.fit(add(6...7)) == [add(6...6)])
        #expect(view.fit(upcoming(4, 5)) == [add(4...5), upcoming(4, 5)])
    }

    @Test func `withheld features are taken out`() {
        var view = ViewOfRoute(Profile(withheld: [.laneGuidance, .routeSegments, .charge]))
        #expect(view.fit(.currentLaneGuidance(nil, generation: 1)).isEmpty)
        #expect(view.fit(.currentRouteSegment("s", generation: 1)).isEmpty)
        var trip = World.trip
        trip.destination.charge = ChargeStop(powerWatts: 5)
        #expect(view.fit(.updateTrip(trip)) == [.updateTrip(World.trip)])
    }

    @Test func `without maneuvers a segment says nothing of them`() {
        var segment = RouteSegment(id: "s", origin: World.place, destination: World.place)
        let plain = segment
        segment.maneuvers = Self.ids(1)
        segment.currentManeuvers = Self.ids(1)
        segment.maneuverTravelEstimates = TravelEstimates(distanceRemaining: .meters(5))
        #expect(Profile(withheld: [.maneuvers]).fit([segment]) == [plain])
    }

    @Test func `limits on what is withheld, and parts of it, make no difference`() {
        var limits = VehicleLimits()
        limits.laneGuidancesStoredMax = 3
        #expect(Profile(limits: limits, withheld: [.laneGuidance]) == Profile(withheld: [.laneGuidance]))
        #expect(Profile(withheld: [.maneuvers, .exitLabels]) == Profile(withheld: [.maneuvers]))
    }
}

@Suite struct LineThinningTests {
    private static func line(_ points: (Double, Double)...) -> [Coordinate] {
        points.map { Coordinate(latitude: $0.0, longitude: $0.1) }
    }

    /// `corners` with `count` points on the way from one to the next.
    private static func line(through corners: [Coordinate], count: Int) -> [Coordinate] {
        zip(corners, corners.dropFirst()).flatMap { from, to in
            (0..<count).map { step in
                let part = Double(step) / Double(count)
                return Coordinate(
                    latitude: from.latitude + (to.latitude - from.latitude) * part,
                    longitude: from.longitude + (to.longitude - from.longitude) * part)
            }
        } + corners.suffix(1)
    }

    @Test func `corners stay, points on straight roads go`() {
        // Two corners close together, far from the others.
        let corners = Self.line((47, 9), (47, 9.5), (47.001, 9.5), (47.001, 9.501), (48, 9.6))
        let line = Self.line(through: corners, count: 100)
        #expect(Profile.thin(line, to: 5) == corners)
    }

    @Test func `also of a line with very many points`() {
        let corners = Self.line((47, 9), (47, 9.5), (47.5, 9.5), (47.5, 9.9), (48, 9.6))
        let line = Self.line(through: corners, count: 5_000)
        #expect(Profile.thin(line, to: 5) == corners)
    }

    @Test func `spikes stay, however thin they are and however many points the line has`() {
        // Two spikes of 1.1 km within a few points of a long road with a little noise.
        var random = SeededRandom(seed: 7)
        var line = (0..<10_000).map { index in
            Coordinate(
                latitude: 47 + .random(in: -0.00001...0.00001, using: &random),
                longitude: 9 + Double(index) * 0.00005)
        }
        line[5_001].latitude += 0.01
        line[5_005].latitude -= 0.01
        let thinned = Profile.thin(line, to: 100)
        #expect(thinned.contains(line[5_001]) && thinned.contains(line[5_005]))
        #expect(Self.error(of: thinned, for: line) < 20)
    }

    @Test(arguments: [(9, 10.0), (3, 10), (1, 10), (1, 5_000)])
    func `a line over 16 384 points loses first what costs little, in one pass`(
        _ every: Int, _ metres: Double
    ) {
        // Some points lie off the road, the point before each half as far.
        let line = (0..<20_000).map { index in
            let offset =
                index.isMultiple(of: every) ? metres : (index + 1).isMultiple(of: every) ? metres / 2 : 0
            let side = index.isMultiple(of: 2) ? 1.0 : -1.0
            return Coordinate(
                latitude: 47 + side * (1_000 + offset) / 111_195, longitude: 9 + Double(index) * 0.00005)
        }
        let thinned = Profile.thin(line, to: 16_384)
        #expect(thinned.count == 16_384)
        #expect(thinned == Self.pass(line, downTo: 16_384))
    }

    @Test func `many lines of a message are thinned as fast as one long one`() {
        var random = SeededRandom(seed: 5)
        var limits = VehicleLimits()
        limits.routeSegmentPointsMax = 2_048
        let profile = Profile(limits: limits)
        let segments = (0..<8).map { number in
            let line = (0..<4_096).map { index in
                Coordinate(
                    latitude: 47 + .random(in: 0...0.01, using: &random), longitude: Double(index) * 0.0001)
            }
            return RouteSegment(
                id: "\(number)", origin: Waypoint(center: line[0]), destination: Waypoint(center: line[0]),
                coordinates: line)
        }
        for (segment, fitted) in zip(segments, profile.fit(segments)) {
            // Half of all points are searched for the cheapest, so nothing is left to search.
            #expect(fitted.coordinates == Self.pass(segment.coordinates, downTo: 2_048))
            #expect(fitted.coordinates != Profile.thin(segment.coordinates, to: 2_048))
        }
    }

    @Test func `a rough part of a long line does not use up the points of the rest`() {
        var random = SeededRandom(seed: 11)
        var line = (0..<100_000).map { index in
            Coordinate(
                latitude: 47 + (index < 50_000 ? .random(in: -0.001...0.001, using: &random) : 0),
                longitude: 9 + Double(index) * 0.00001)
        }
        line[90_000].latitude += 0.01
        #expect(Profile.thin(line, to: 16_384).contains(line[90_000]))
    }

    /// The pass of Docs/protocol.md over a line of too many points.
    private static func pass(_ line: [Coordinate], downTo countMax: Int) -> [Coordinate] {
        var kept = [0]
        var lost: [Int: Int64] = [:]
        var limit: Int64 = 1_000
        for index in 1..<line.count - 1 {
            guard kept.count + line.count - index > countMax else {
                kept.append(index)
                continue
            }
            let before = kept[kept.count - 1]
            let cost =
                Self.millimetres(of: line[index], from: line[before], line[index + 1]) + (lost[before] ?? 0)
            let share = countMax / 2 + countMax / 2 * index / line.count
            if kept.count < share - countMax / 16, limit > 1_000 { limit /= 16 }
            if kept.count >= share { while limit < cost { limit *= 16 } }
            if cost <= limit { lost[before] = cost } else { kept.append(index) }
        }
        return (kept + [line.count - 1]).map { line[$0] }
    }

    /// How far the farthest point of a line is from the part of a thinned line that stands for it, in metres.
    private static func error(of thinned: [Coordinate], for line: [Coordinate]) -> Double {
        var (worst, part) = (0.0, 0)
        for point in line {
            if part + 1 < thinned.count, point == thinned[part + 1] { part += 1 }
            guard part + 1 < thinned.count else { continue }
            worst = max(worst, Self.distance(of: point, from: thinned[part], thinned[part + 1]))
        }
        return worst
    }

    private static func distance(
        of point: Coordinate, from first: Coordinate, _ last: Coordinate
    ) -> Double {
        let square = point.latitude * point.latitude
        let width = (32_400 - 4 * square) / (32_400 + square)
        func place(_ other: Coordinate) -> SIMD2<Double> {
            SIMD2(
                (other.longitude - point.longitude) * width, other.latitude - point.latitude) * 111_195
        }
        let (start, way) = (place(first), place(last) - place(first))
        let length = (way * way).sum()
        let part = length > 0 ? min(1, max(0, -(start * way).sum() / length)) : 0
        let nearest = start + way * part
        return (nearest * nearest).sum().squareRoot()
    }

    private static func millimetres(
        of point: Coordinate, from first: Coordinate, _ last: Coordinate
    ) -> Int64 {
        Int64((Self.distance(of: point, from: first, last) * 1_000).rounded())
    }

    /// The rule of Docs/protocol.md, done the slow way. The second value is what the last point cost.
    private static func slow(_ line: [Coordinate], _ countMax: Int) -> ([Coordinate], cost: Int64) {
        var kept = Array(line.indices)
        var lost = [Int64](repeating: 0, count: line.count)
        var cost: Int64 = 0
        while kept.count > countMax {
            let costs = (1..<kept.count - 1).map { index in
                Self.millimetres(of: line[kept[index]], from: line[kept[index - 1]], line[kept[index + 1]])
                    + max(lost[kept[index - 1]], lost[kept[index]])
            }
            let place = costs.indices.min { (costs[$0], $0) < (costs[$1], $1) } ?? 0
            cost = max(cost, costs[place])
            lost[kept[place]] = cost
            kept.remove(at: place + 1)
        }
        return (kept.map { line[$0] }, cost)
    }

    @Test(arguments: 0..<10) func `no point that went is farther off than the last one cost`(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var place = Coordinate(latitude: 47, longitude: 9)
        let line = (0..<120).map { _ in
            place.latitude += .random(in: -0.001...0.001, using: &random)
            place.longitude += .random(in: -0.001...0.002, using: &random)
            return place
        }
        for countMax in [3, 10, 60] {
            let (expected, cost) = Self.slow(line, countMax)
            let thinned = Profile.thin(line, to: countMax)
            #expect(thinned == expected)
            // The map is another one at each point, by a few parts in a hundred thousand, and each cost was rounded.
            let bound = Double(cost) * 1.001 + 0.5 * Double(line.count)
            #expect(Self.error(of: thinned, for: line) * 1_000 <= bound)
        }
    }

    /// Every point costs nothing on paper. Distances that are not rounded differ in their last bits.
    @Test func `of a straight line the earliest points go`() {
        let line = (0..<9).map { (index: Int) -> Coordinate in
            let (north, east) = (47_000_000 + 777 * index, 9_000_000 + 1_234 * index)
            return Coordinate(latitude: Double(north) / 1e6, longitude: Double(east) / 1e6)
        }
        for count in 3...8 { #expect(Profile.thin(line, to: count) == [line[0]] + line.suffix(count - 1)) }
    }

    @Test func `a point alone is the last one`() {
        let line = Self.line((47, 9), (47, 9.5), (47.5, 9.5))
        #expect(Profile.thin(line, to: 1) == [line[2]])
        #expect(Profile.thin(line, to: 2) == [line[0], line[2]])
    }

    @Test(arguments: 0..<50) func `as many points as asked for, in order, with both ends`(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let line = (0..<Int.random(in: 0...60, using: &random)).map { index in
            Coordinate(
                latitude: .random(in: -90...90, using: &random),
                longitude: .random(in: -180...180, using: &random), altitude: Double(index))
        }
        let countMax = Int.random(in: 1...60, using: &random)
        let thinned = Profile.thin(line, to: countMax)
        #expect(thinned.count == min(line.count, countMax))
        #expect(thinned.last == line.last)
        if countMax > 1 { #expect(thinned.first == line.first) }
        let places = thinned.compactMap(\.altitude)
        #expect(places == places.sorted() && Set(places).count == places.count)
        #expect(Profile.thin(line, to: countMax) == thinned)
    }

    @Test func `the antimeridian is no corner`() {
        let corners = Self.line((0, 179), (0, -179), (1, -179))
        let line = Self.line((0, 179), (0, 179.5), (0, -179.5), (0, -179), (1, -179))
        #expect(Profile.thin(line, to: 3) == corners)
    }
}
