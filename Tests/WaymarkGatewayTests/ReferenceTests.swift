import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@Suite struct ReferenceTests {
    @Test func `0 and what was not added are unknown references, in every list of ids`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let session = try world.guided(client, ["car"])
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        world.publish(client, session, .updateTrip(trip))
        for raw in [UInt32(0), 9] {
            let id = ManeuverID(rawValue: raw)
            func segment(_ change: (inout RouteSegment) -> Void) -> Publication {
                var segment = RouteSegment(id: "s", origin: World.place, destination: World.place)
                change(&segment)
                return .addRouteSegments([segment], generation: 1)
            }
            let lane = LaneGuidanceID(rawValue: raw)
            let upcoming = RouteInformation(maneuvers: World.route.maneuvers, upcomingManeuvers: [id])
            for (publication, field) in [
                (.upcomingManeuvers([id], generation: 1), "maneuver_ids[0]"),
                (.startGuidance(trip, generation: 5, upcoming), "route.upcoming_maneuver_ids[0]"),
                (segment { $0.maneuvers = [id] }, "segments[0].maneuver_ids[0]"),
                (segment { $0.currentManeuvers = [id] }, "segments[0].current_maneuver_ids[0]"),
                (segment { $0.laneGuidances = [lane] }, "segments[0].lane_guidance_ids[0]"),
            ] as [(Publication, String)] {
                world.mail[client] = []
                // As the transport reads it.
                let number = (world.sequences[session] ?? 0) + 1
                world.sequences[session] = number
                let frame = Codec.encode(
                    Envelope(.publication(publication), session: session, sequence: number))
                do throws(DecodingError) {
                    let outline = try BodyDecoder().outline(of: frame)
                    world.handle(.published(client, PublishedFrames(frame, outline)))
                } catch {
                    guard case .rejected(let rejection) = error else { continue }
                    world.mail[client] = [Envelope(.error(rejection))]
                }
                guard case .error(let rejection)? = world.messages(client).last else {
                    Issue.record("\(field) is not refused")
                    continue
                }
                #expect(rejection.code == .unknownReference && rejection.field == field, "\(rejection)")
            }
        }
    }
}
