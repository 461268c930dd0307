import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

@Suite struct PublishedFramesTests {
    /// Two sessions of one client: one with endpoints of three profiles, one with a single endpoint.
    ///
    /// None has slots for a part of the route: those get only the newest states of a batch, see LazyFittingTests.
    private static func world() throws -> (World, ConnectionID, [SessionID]) {
        var world = World { policy in
            policy.limits.replayBytesMax = 4_000
            policy.limits.retainedBytesMax = 6_000
            // A batch is acknowledged once.
            policy.acknowledgements.frames = UInt64(UInt32.max)
        }
        world.arrive(1, World.endpoint("car"))
        world.arrive(2, World.endpoint("car", "metric") { $0.preferences.distanceUnits = .metric })
        world.arrive(3, World.endpoint("car", "short") { $0.limits.currentRoadNameLengthMax = 4 })
        world.arrive(5, World.endpoint("other"))
        let client = world.arrive(6, World.client("app", without: [.laneGuidance]))
        let sessions = [
            try world.guided(client, ["car"]), try world.guided(client, ["other"], request: "other"),
        ]
        return (world, client, sessions)
    }

    /// Right or wrong, a few of each kind.
    private static func publication(_ random: inout SeededRandom) -> Publication {
        let number = UInt32.random(in: 1...5, using: &random)
        let maneuver = ManeuverID(rawValue: number)
        let generation: UInt32 = .random(in: 0..<12, using: &random) == 0 ? 2 : 1
        let estimates = TravelEstimates(distanceRemaining: .meters(number * 1_000))
        return switch UInt32.random(in: 0..<16, using: &random) {
        case 0..<4: .tripEstimates(estimates, .default)
        case 4..<8: .maneuverEstimates(maneuver, estimates, generation: generation)
        case 8: .currentRoadName([String(repeating: "x", count: Int(number) * 3)])
        case 9: .upcomingManeuvers([maneuver], generation: generation)
        case 10: .maneuverState(number < 3 ? .prepare : .execute, generation: generation)
        case 11: .addManeuvers([Maneuver(id: maneuver, type: .leftTurn)], generation: generation)
        case 12: .showAlert(NavigationAlert(id: number, titleVariants: ["t"]))
        case 13: .currentLaneGuidance(nil, generation: generation)
        case 14: number < 3 ? .pauseGuidance(.loading, description: []) : .dismissAlert(number, .timeout)
        case _: .resumeGuidance(generation: generation, .unknown, nil)
        }
    }

    @Test(arguments: 0..<12)
    func `frames that are read at once do what they do one by one, right or wrong`(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var (atOnce, client, sessions) = try Self.world()
        var (oneByOne, _, _) = try Self.world()
        var published = 0
        for round in 0..<30 {
            var frames: [(Frame, PublicationOutline)] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let isEnd = round == 29 && frames.isEmpty
                let publication = isEnd ? .finishGuidance : Self.publication(&random)
                var session = sessions[!isEnd && Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0]
                if !isEnd, Int.random(in: 0..<40, using: &random) == 0 { session = SessionID(9_999) }
                var sequence = atOnce.sequences[session, default: 0] + 1
                atOnce.sequences[session] = sequence
                if !isEnd, Int.random(in: 0..<40, using: &random) == 0 {
                    sequence += 1
                    atOnce.sequences[session, default: 1] -= 1
                }
                let flags: FrameHeader.Flags =
                    !isEnd && Int.random(in: 0..<40, using: &random) == 0 ? .fitted : []
                let envelope = Envelope(
                    .publication(publication), session: session, sequence: sequence, flags: flags)
                frames.append((Codec.encode(envelope), publication.outline))
            }
            var whole = PublishedFrames(readInto: frames.flatMap { Array($0.0.bytes) })
            var start = 0
            for (frame, outline) in frames {
                whole.append(read: frame.header, at: start, outline)
                start += frame.bytes.count
                oneByOne.handle(.published(client, PublishedFrames(frame, outline)))
            }
            atOnce.handle(.published(client, whole))
            let isSame = atOnce.mail == oneByOne.mail && atOnce.gateway == oneByOne.gateway
            #expect(isSame, "after round \(round)")
            published += frames.count
        }
        let counters = atOnce.gateway.counters
        #expect(counters.framesPublished.total + counters.framesRejected == UInt64(published) + 2)
        #expect(counters.framesUnchanged > 0 && counters.framesRejected > 0)
        #expect(atOnce.gateway.sessions.count == 1)
    }

    @Test func `what an outline foresees is what fitting does`() {
        var profiles = Profile.contentFeatures.map { Profile(withheld: [$0]) }
        profiles.append(Profile(distanceUnits: .metric))
        var limits = VehicleLimits()
        limits.currentRoadNameLengthMax = 4
        profiles.append(Profile(limits: limits))
        limits.maneuversStoredMax = 2
        limits.laneGuidancesStoredMax = 1
        profiles.append(Profile(limits: limits, distanceUnits: .metric))
        var random = SeededRandom(seed: 1)
        var foreseen: [FittedView.Foresight: Int] = [:]
        for profile in profiles {
            for _ in 0..<300 {
                let publication = Self.publication(&random)
                var view = FittedView(profile: profile)
                let foresight = view.foresight(by: publication.rule)
                foreseen[foresight, default: 0] += 1
                switch foresight {
                case .asReceived: #expect(view.fit(publication, StoredRoute()) == .asReceived)
                case .withheld: #expect(view.fit(publication, StoredRoute()) == .fitted([]))
                case .unknown: break
                }
            }
        }
        #expect(foreseen.count == 3)
    }
}
