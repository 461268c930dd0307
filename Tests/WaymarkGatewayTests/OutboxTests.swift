import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@Suite struct OutboxTests {
    static func frame(_ sequence: UInt64, size: Int = 10, session: UInt32 = 1) -> Frame {
        Frame(
            header: FrameHeader(type: 0x0108, session: SessionID(session), sequence: sequence),
            body: [UInt8](repeating: 0, count: size))
    }

    static let road = ConflationKey(type: .currentRoadName)

    @Test func `a newer state goes to the end, events stay`() {
        var outbox = Outbox(limits: .init())
        for (sequence, key) in [(UInt64(1), Self.road), (2, nil), (3, Self.road), (4, nil)]
            as [(UInt64, ConflationKey?)]
        {
            #expect(outbox.append(Self.frame(sequence), key: key) == .queued)
        }
        #expect(outbox.take(byteCount: .max).map(\.header.sequence) == [2, 3, 4])
        #expect(outbox.isEmpty && outbox.byteCount == 0 && outbox.conflatedCount == 1)
    }

    @Test func `it is bounded, and a session can be dropped`() {
        var limits = Outbox.Limits()
        limits.bytesMax = 100
        var outbox = Outbox(limits: limits)
        #expect(outbox.append(Self.frame(1, size: 40), key: nil) == .queued)
        #expect(outbox.append(Self.frame(2, size: 40, session: 2), key: nil) == .overflow)
        outbox.purge(SessionID(1))
        #expect(outbox.append(Self.frame(2, size: 40, session: 2), key: nil) == .queued)
        #expect(outbox.take(byteCount: 1).map(\.header.sequence) == [2])
    }

    @Test(arguments: 0..<100)
    func `whatever is read when, events come in order and the last values win`(_ seed: Int) {
        var generator = SplitMix(state: UInt64(seed))
        var outbox = Outbox(limits: .init())
        var events: [UInt64] = []
        var newest: [UInt32: UInt64] = [:]
        var seenEvents: [UInt64] = []
        var seen: [UInt32: UInt64] = [:]
        var last: UInt64 = 0
        func take(_ count: Int, _ outbox: inout Outbox) {
            for frame in outbox.take(byteCount: count) {
                #expect(frame.header.sequence > last)
                last = frame.header.sequence
                let item = UInt32(frame.header.rawType)
                if item == 0 { seenEvents.append(last) } else { seen[item] = last }
            }
        }
        for sequence in UInt64(1)...500 {
            let item = UInt32.random(in: 0...4, using: &generator)
            let frame = Frame(
                header: FrameHeader(type: UInt16(item), session: SessionID(1), sequence: sequence), body: [])
            let key = item == 0 ? nil : ConflationKey(type: .updateManeuverEstimates, item: item)
            #expect(outbox.append(frame, key: key) == .queued)
            if item == 0 { events.append(sequence) } else { newest[item] = sequence }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                take(Int.random(in: 1...400, using: &generator), &outbox)
            }
        }
        take(.max, &outbox)
        #expect(seenEvents == events)
        #expect(seen == newest)
    }
}

/// The seed is the whole recipe.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct FittedViewTests {
    @Test func `texts are cut to what fits, between characters only when none fits`() {
        var limits = VehicleLimits()
        limits.currentRoadNameLengthMax = 5
        var view = FittedView(profile: Profile(limits: limits))
        #expect(
            view.fit(.currentRoadName(["Landstrasse", "Land", "L"]))
                == .fitted([.currentRoadName(["Land", "L"])]))
        #expect(view.fit(.currentRoadName(["Landstrasse"])) == .fitted([.currentRoadName(["Lands"])]))
        #expect(view.fit(.currentRoadName(["Abc"])) == .asReceived)
        // A family of five scalars and a letter before it: the family does not fit, and is not split.
        #expect(view.fit(.currentRoadName(["x👨‍👩‍👦"])) == .fitted([.currentRoadName(["x"])]))
    }

    @Test func `an endpoint with two slots never holds more, and holds what is upcoming`() {
        var limits = VehicleLimits()
        limits.maneuversStoredMax = 2
        var view = FittedView(profile: Profile(limits: limits))
        var held: [UInt32] = []
        func take(_ publications: [Publication]) {
            for publication in publications {
                switch publication {
                case .startGuidance(_, _, let route): held = route.maneuvers.map(\.id.rawValue)
                case .addManeuvers(let added, _): held += added.map(\.id.rawValue)
                case .upcomingManeuvers(let ids, _):
                    if let first = ids.first, let place = held.firstIndex(of: first.rawValue) {
                        held.removeFirst(place)
                    } else {
                        held = []
                    }
                    for id in ids { #expect(held.contains(id.rawValue)) }
                default: break
                }
                #expect(held.count <= 2)
            }
        }
        let route = RouteInformation(
            maneuvers: (1...9).map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) },
            upcomingManeuvers: [ManeuverID(rawValue: 1)])
        guard case .fitted(let start) = view.fit(.startGuidance(World.trip, generation: 1, route)) else {
            Issue.record("nothing was cut")
            return
        }
        take(start)
        for first in [2, 3, 5, 9, 4] as [UInt32] {
            let ids = (first...min(first + 1, 9)).map { ManeuverID(rawValue: $0) }
            let publication = Publication.upcomingManeuvers(ids, generation: 1)
            switch view.fit(publication) {
            case .asReceived: take([publication])
            case .fitted(let publications): take(publications)
            }
            #expect(held.first == first)
        }
    }

    @Test func `withheld features are taken out`() {
        var view = FittedView(profile: Profile(withheld: [.laneGuidance, .routeSegments, .charge]))
        #expect(view.fit(.currentLaneGuidance(nil, generation: 1)) == .fitted([]))
        #expect(view.fit(.currentRouteSegment("s", generation: 1)) == .fitted([]))
        var trip = World.trip
        trip.destination.charge = ChargeStop(powerWatts: 5)
        #expect(view.fit(.updateTrip(trip)) == .fitted([.updateTrip(World.trip)]))
    }

    @Test func `limits on what is withheld make no difference`() {
        var limits = VehicleLimits()
        limits.laneGuidancesStoredMax = 3
        #expect(Profile(limits: limits, withheld: [.laneGuidance]) == Profile(withheld: [.laneGuidance]))
    }
}
