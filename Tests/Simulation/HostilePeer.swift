internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

/// A peer that sends garbage, messages of the wrong role, and messages with unknown references.
struct HostilePeer {
    enum Habit: CaseIterable {
        /// Sends random bytes.
        case garbage
        /// Connects as a vehicle, then sends any messages.
        case vehicle
        /// Connects as a navigation client, then sends any messages.
        case client
        /// Uses the id of another peer.
        case impostor
    }

    let index: Int
    var connection: ConnectionID?
    private var habit = Habit.garbage
    private var isIntroduced = false
    private var said = 0

    init(index: Int) { self.index = index }

    mutating func connect(_ connection: ConnectionID, _ random: inout SeededRandom) {
        self.connection = connection
        self.habit = random.pick(Habit.allCases) ?? .garbage
        self.isIntroduced = false
    }

    /// Its own id, as a vehicle and as a client.
    private var name: String { "h\(self.index)" }

    /// The next bytes to send; `victims` are ids in use.
    mutating func speak(
        _ victims: (vehicles: [VehicleID], clients: [ClientID], sessions: [SessionID]),
        _ random: inout SeededRandom
    ) -> [UInt8] {
        self.said += 1
        if self.habit == .garbage { return Self.garbage(&random) }
        guard self.isIntroduced else {
            self.isIntroduced = true
            return self.bytes(of: Envelope(.hello(self.hello(victims, &random))), mutatedOnceIn: 6, &random)
        }
        let session = random.once(in: 2) ? .none : random.pick(victims.sessions) ?? SessionID(77)
        let envelope = Envelope(
            self.message(victims, &random), session: session, sequence: UInt64(random.number(0...20)))
        return self.bytes(of: envelope, mutatedOnceIn: 3, &random)
    }

    private func bytes(
        of envelope: Envelope, mutatedOnceIn times: Int, _ random: inout SeededRandom
    ) -> [UInt8] {
        var bytes = Array(Codec.encode(envelope).bytes)
        if random.once(in: times) { Self.mutate(&bytes, &random) }
        return bytes
    }

    private func hello(
        _ victims: (vehicles: [VehicleID], clients: [ClientID], sessions: [SessionID]),
        _ random: inout SeededRandom
    ) -> Hello {
        var vehicle = VehicleID(unchecked: self.name)
        var client = ClientID(unchecked: self.name)
        if self.habit == .impostor {
            vehicle = random.pick(victims.vehicles) ?? vehicle
            client = random.pick(victims.clients) ?? client
        }
        var vehicleHello = VehicleHello(
            vehicle: vehicle, endpoint: EndpointName(unchecked: "e\(random.number(0...2))"),
            features: random.thin(Feature.allCases, leaveOutOnceIn: 4))
        vehicleHello.guidanceWanted = random.once(in: 2)
        let navigation = NavigationHello(client: client, features: Set(Feature.allCases))
        let isVehicle = self.habit == .vehicle || (self.habit == .impostor && random.once(in: 2))
        var hello = Hello(role: isVehicle ? .vehicle(vehicleHello) : .navigation(navigation))
        if random.once(in: 2) {
            hello.resumptionToken = ResumptionToken(high: 7, low: UInt64(random.number(1...50)))
            hello.resumeSession = random.pick(victims.sessions) ?? .none
        }
        return hello
    }

    /// A random message of either role.
    private func message(
        _ victims: (vehicles: [VehicleID], clients: [ClientID], sessions: [SessionID]),
        _ random: inout SeededRandom
    ) -> Message {
        let id: Identifier =
            random.once(in: 2) ? EquivalentIDs.id("e0-", random.number(1...2)) : "\(self.name)-\(self.said)"
        let vehicle = random.pick(victims.vehicles) ?? VehicleID(unchecked: self.name)
        let waypoint = RandomDrive.waypoint(&random)
        switch random.number(0...17) {
        case 0:
            return .waypointRequest(WaypointRequest(requestID: id, waypoint: waypoint, segment: "nowhere"))
        case 1, 2: return .destinationRequest(DestinationRequest(requestID: id, destination: waypoint))
        case 3: return .withdrawRequest(WithdrawRequest(requestID: id))
        case 4: return .promptAnswer(PromptAnswer(requestID: id, isAccepted: true))
        case 5: return .cancelNavigation(random.once(in: 2) ? .userStopped : .ownNavigationStarted)
        case 6: return .receipt(Receipt(receivedSequence: 1 << 40, shownSequence: 1))
        case 7:
            return .destinationShareAnswer(
                DestinationShareAnswer(shareID: EquivalentIDs.id("a0-share-", 1), outcome: .accepted))
        case 8: return .alertResponse(AlertResponse(alert: 1, response: .action(1)))
        case 9: return .requestAnswer(RequestAnswer(requestID: id, vehicle: vehicle, answer: .accept))
        case 10:
            let own = VehicleSelection.vehicles([VehicleID(unchecked: self.name)])
            return .openSession(OpenSession(requestID: id, vehicles: own))
        case 11: return .publication(.finishGuidance)
        case 12:
            let route = RouteInformation(upcomingManeuvers: [ManeuverID(rawValue: 5)])
            let trip = Trip(id: "t", origin: waypoint, destination: waypoint)
            return .publication(.startGuidance(trip, generation: 1, route))
        case 13: return .publication(.currentRoadName(["nonsense"]))
        case 14: return .goodbye(Goodbye(.normal))
        case 15: return .destinationShareWanted(DestinationShareWanted(trip: "nowhere"))
        case 16:
            let feedback = RouteFeedback(
                generation: UInt32(random.number(0...2)), firstUnreachableSegment: "nowhere")
            return .updateRouteFeedback(UpdateRouteFeedback(feedback, vehicle: vehicle))
        default: return .updateRouteSource(UpdateRouteSource(routeSource: .vehicle, vehicle: vehicle))
        }
    }

    private static func garbage(_ random: inout SeededRandom) -> [UInt8] {
        var bytes = (0..<random.number(1...100)).map { _ in UInt8(random.number(0...255)) }
        // Half of the time it begins like a header.
        if random.once(in: 2) { bytes.replaceSubrange(0..<min(3, bytes.count), with: [0x57, 0x4D, 1]) }
        return bytes
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        for _ in 0..<random.number(1...3) {
            let index = random.number(0...bytes.count - 1)
            switch random.number(0...3) {
            case 0: bytes[index] ^= 1 << UInt8(random.number(0...7))
            case 1: bytes[index] = UInt8(random.number(0...255))
            case 2: bytes.insert(UInt8(random.number(0...255)), at: index)
            default: if bytes.count > 1 { bytes.remove(at: index) }
            }
        }
    }
}
