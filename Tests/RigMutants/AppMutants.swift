import WaymarkModel
import WaymarkProtocol
import WaymarkRig

// Apps that a store's review would refuse, each by one rule. The scenario that quotes the rule finds it, by an expectation.
extension Mutant {
    package static let ofApps: [Mutant] = [
        .publishes("guides without estimates of the trip", in: "app-would-pass-carplay") { publication, _ in
            if case .tripEstimates = publication { return [] }
            return [publication.changingRoute { $0.tripTravelEstimates = nil }]
        },
        .publishes("names no maneuver ahead", in: "app-would-pass-carplay") { publication, _ in
            if case .upcomingManeuvers = publication { return [] }
            return [publication.changingRoute { $0.upcomingManeuvers = [] }]
        },
        .publishes("updates all maneuvers ahead whenever one changes", in: "app-would-pass-carplay") {
            publication, memory in
            if let route = publication.newRoute { memory.maneuvers = route.maneuvers.map(\.id) }
            guard case .maneuverEstimates(_, let estimates, let generation) = publication else {
                return [publication]
            }
            return memory.maneuvers.map { .maneuverEstimates($0, estimates, generation: generation) }
        },
        .clientReads("guides on when the car navigates by itself", in: "app-would-pass-carplay") { read, _ in
            Self.again(read, after: .ownNavigationStarted)
        },
        .publishes("never says how far the next turn is", in: "app-would-pass-nf-4") { publication, _ in
            if case .maneuverEstimates = publication { return [] }
            return [publication.changingRoute { $0.maneuverTravelEstimates = nil }]
        },
        .clientReads("takes the car back from another app", in: "app-would-pass-nf-5") { read, memory in
            // Once: otherwise both would take it from each other for ever.
            let answer = memory.isOn ? ([read], []) : Self.again(read, after: .replaced)
            if !answer.1.isEmpty { memory.isOn = true }
            return answer
        },
        .clientReads("does not drive when it is asked to", in: "app-would-pass-nf-7") { read, _ in
            if case .simulateDrive = read.message { ([], []) } else { ([read], []) }
        },
        .clientReads("drives before it is asked to", in: "app-would-pass-nf-7") { read, _ in
            guard case .sessionOpened(let opened) = read.message else { return ([read], []) }
            let start = Message.simulateDrive(SimulateDrive(.start, speedPercent: 2_000))
            return ([read, Envelope(start, session: opened.session)], [])
        },
        .clientReads("does not stop when it is asked to", in: "app-would-pass-nf-7") { read, _ in
            if case .simulateDrive(let asked) = read.message, asked.action == .stop { return ([], []) }
            return ([read], [])
        },
    ]

    /// Opens another session as soon as one has ended for this reason.
    private static func again(
        _ read: Envelope, after reason: SessionEndReason
    ) -> (read: [Envelope], sent: [Envelope]) {
        guard case .sessionEnded(let ended) = read.message, ended.reason == reason else {
            return ([read], [])
        }
        let again = OpenSession(requestID: "again", vehicles: .vehicles([VehicleID(unchecked: "dut")]))
        return ([read], [Envelope(.openSession(again))])
    }
}
