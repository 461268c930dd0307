import WaymarkModel
import WaymarkProtocol
import WaymarkRig

// What endpoints of vehicles do wrong with their connection, and with what they read.
extension Mutant {
    static let ofClusters = Self.ofHellos + Self.ofResuming + Self.ofReading

    private static let ofHellos: [Mutant] = [
        .hello("asks for no maneuvers", in: "vehicle-navigates-itself") { _, vehicle, _ in
            vehicle.features.remove(.maneuvers)
        },
        .hello("asks for no lanes", in: "right-turn-lanes") { _, vehicle, _ in
            vehicle.features.remove(.laneGuidance)
        },
        .hello("does not say how little it stores", in: "small-cluster", "short-texts") { _, vehicle, _ in
            vehicle.limits = VehicleLimits()
        },
        .hello("says yards and means metres", in: "client-lost-and-back") { _, vehicle, _ in
            vehicle.preferences.distanceUnits =
                vehicle.preferences.distanceUnits == .imperialYards ? .metric : .imperialYards
        },
        .hello("asks for a keepalive in seconds instead of milliseconds") { hello, _, _ in
            hello.keepaliveMilliseconds = 10
        },
        .hello("has one name for all endpoints", in: "same-state-on-every-display") { _, vehicle, _ in
            vehicle.endpoint = EndpointName(unchecked: "display")
        },
        .clusterSends("sends no Ping", in: "stalled-cluster") { sent, _ in
            if case .ping = sent.message { [] } else { [sent] }
        },
        .clusterSends(
            "waits for the gateway to speak first after a lost connection", in: "connection-lost-and-resumed"
        ) { sent, memory in
            guard case .hello = sent.message else { return [sent] }
            memory.count += 1
            return memory.count > 1 ? [] : [sent]
        },
    ]

    private static let ofResuming: [Mutant] = [
        .hello("forgets its token when the connection is lost", in: "connection-lost-and-resumed") {
            hello, _, _ in
            hello.resumptionToken = nil
        },
        .hello("keeps the token of the first Welcome", in: "gateway-dies") { hello, _, memory in
            if memory.envelopes.isEmpty, hello.resumptionToken != nil {
                memory.envelopes = [Envelope(.hello(hello))]
            }
            guard case .hello(let first)? = memory.envelopes.first?.message else { return }
            hello.resumptionToken = first.resumptionToken
        },
        .hello("resumes without saying what it holds", in: "connection-lost-and-resumed") { hello, _, _ in
            hello.resumeSession = .none
            hello.resumeSequence = 0
        },
        .hello("resumes behind a publication that it has not got", in: "connection-lost-and-resumed") {
            hello, _, _ in
            if hello.resumeSequence > 0 { hello.resumeSequence += 1 }
        },
        .hello("resumes at the first publication of the session", in: "connection-lost-and-resumed") {
            hello, _, _ in
            if hello.resumeSequence > 0 { hello.resumeSequence = 1 }
        },
    ]

    private static let ofReading: [Mutant] = [
        .clusterReads(
            "takes a gap in the numbers for a loss, and connects again", in: "same-state-on-every-display"
        ) { read, memory in
            guard case .publication = read.message else { return ([read], []) }
            let last = UInt64(memory.count)
            memory.count = Int(read.sequence)
            guard last > 0, read.sequence > last + 1 else { return ([read], []) }
            return ([read], [Envelope(.goodbye(Goodbye(.internalError)))])
        },
        .clusterReads("says Goodbye when a drive ends", in: "vehicle-navigates-itself") { read, _ in
            guard case .sessionEnded = read.message else { return ([read], []) }
            return ([read], [Envelope(.goodbye(Goodbye(.normal)))])
        },
        .clusterReads("cancels guidance when its client is away", in: "client-lost-and-back") { read, _ in
            guard case .sessionSuspended = read.message else { return ([read], []) }
            return ([read], [Envelope(.cancelNavigation(.userStopped), session: read.session)])
        },
        .clusterReads("cancels guidance when it is paused", in: "guidance-paused") { read, _ in
            guard case .publication(.pauseGuidance) = read.message else { return ([read], []) }
            return ([read], [Envelope(.cancelNavigation(.userStopped), session: read.session)])
        },
    ]

    /// An endpoint with another Hello.
    private static func hello(
        _ sentence: String, in first: String...,
        changes change:
            @escaping @Sendable (
                _ hello: inout Hello, _ vehicle: inout VehicleHello, _ memory: inout MutationMemory
            ) -> Void
    ) -> Mutant {
        let sending: FrameMutation.Sending = { sent, memory in
            guard case .hello(var hello) = sent.message, case .vehicle(var vehicle) = hello.role else {
                return [sent]
            }
            change(&hello, &vehicle, &memory)
            hello.role = .vehicle(vehicle)
            return [sent.with(.hello(hello))]
        }
        return Mutant(.cluster, sentence, first) { $0.vehicleFrames = FrameMutation(sending: sending) }
    }
}
