import WaymarkClient
package import WaymarkFaults
package import WaymarkHistory
import WaymarkLint
import WaymarkProtocol
import WaymarkRig

/// A kind of fault at a message on its way.
package struct FaultCell: Sendable, CustomStringConvertible {
    /// From 1.
    package let number: Int
    package let name: LinkFault.Name
    package let hop: Hop
    package let scene: FaultScene

    package var description: String { "\(self.name.rawValue) at \(self.hop)" }

    /// Its scene with its fault, as ``FaultScene/play(_:of:rest:onBegun:)`` says.
    ///
    /// - Throws: Why a route cannot be read.
    package func play(
        rest: Duration = FaultScene.rest, onBegun: @escaping @Sendable () -> Void = {}
    ) throws -> FaultPlay {
        try self.scene.play(self.faults, of: self.hop.peer, rest: rest, onBegun: onBegun)
    }

    /// How long what lasts does so: after 5 s without a Welcome, peers give up.
    private static let span = Duration.seconds(4)

    /// At the first such frame.
    private var faults: [LinkFault] {
        let type = self.hop.type.rawValue
        let trigger = LinkFault.Trigger(self.hop.way) { $0.header.rawType == type }
        func span(_ kind: LinkFault.Kind) -> [LinkFault] {
            [LinkFault(kind, after: trigger, for: Self.span)]
        }
        func once(_ kind: LinkFault.Kind) -> [LinkFault] {
            [LinkFault(kind, after: trigger, times: 1)]
        }
        return switch self.name {
        case .delay: span(.delay(.milliseconds(500)))
        case .jitter: span(.jitter(.milliseconds(500)))
        case .throttle: span(.throttle(bytesPerSecond: 2_000))
        case .slice: span(.slice(bytes: 3))
        case .stall: span(.stall)
        case .cut: once(.cut(.reset))
        case .drop, .chaos: once(.drop)
        case .duplicate: once(.duplicate)
        case .reorder: once(.reorder)
        case .corrupt: [LinkFault(.corrupt, after: trigger, atByte: self.number % 61, times: 1)]
        case .halfClose: once(.halfClose)
        // Only who connects again can be refused.
        case .refuse: span(.refuse) + once(.cut(.reset))
        case .blackhole: span(.blackhole)
        }
    }

    /// Who has said Goodbye does not connect again, so nothing is refused.
    package var mayHappen: Bool {
        self.name != .refuse || self.hop.type != .goodbye || self.hop.way == .toPeer
    }

    /// Whether the fault happened; the scene has faults of its own.
    package func isCovered(_ history: History) -> Bool {
        history.entries.contains { entry in
            guard case .fault(let fault) = entry.kind, fault.peer == self.hop.peer else { return false }
            return fault.kind == self.name.rawValue && fault.text != "the connection is closed"
                && fault.text != "nothing is read, towards the gateway"
        }
    }

    // MARK: Judging

    /// A peer is connected in the end, or the gateway has told it that it may not come back.
    private static func isExplained(_ state: ConnectionState?) -> Bool {
        switch state {
        case .connected: true
        case .closed(.refused): true
        case .closed, .connecting, nil: false
        }
    }

    /// What a fault took from a connection that lived on. The protocol promises nothing then: transports are reliable (REQ-VIEW-05), and
    /// no message says that another one was lost.
    private struct Losses {
        /// A number is missing: the gateway rejects all that follow (REQ-NUM-04), also the end of guidance.
        private(set) var publication = false
        /// Publications did not reach the gateway once and in order, so its session is another one than the client means.
        private(set) var altered = false
        /// The session was not opened, or the client does not know it.
        private(set) var opening = false
        /// The vehicle's wish to end guidance did not arrive.
        private(set) var cancellation = false
        /// The end of the session did not reach the client, or the endpoint.
        private(set) var endForClient = false
        private(set) var endForVehicle = false

        init(_ cell: FaultCell, _ history: History) {
            // Changed places: every frame arrives whole, and a publication before the one of the number before.
            if cell.name == .reorder { self.see(cell.hop.peer, cell.hop.way, cell.hop.type) }
            // A changed length hides what follows: the peer waits for the rest of a frame while bytes come (REQ-KEEP-09).
            if cell.name == .corrupt, cell.hop.way == .toPeer {
                if cell.hop.peer == .ofClient { self.endForClient = true } else { self.endForVehicle = true }
            }
            if cell.name == .duplicate, cell.hop.peer == .ofClient, cell.hop.way == .toGateway {
                self.altered = true
            }
            for (_, frame) in history.frames where frame.delivery != .whole {
                if let type = frame.frame.header.type { self.see(frame.peer, frame.way, type) }
            }
        }

        private mutating func see(_ peer: PeerID, _ way: Way, _ type: MessageType) {
            switch (peer, way, type) {
            case (.ofClient, .toGateway, _) where MessageType.published.contains(type.rawValue):
                (self.publication, self.altered) = (true, true)
            case (.ofVehicle, .toGateway, .cancelNavigation): self.cancellation = true
            case (.ofClient, .toGateway, .openSession), (.ofClient, .toPeer, .sessionOpened):
                self.opening = true
            case (.ofClient, .toPeer, .sessionEnded): self.endForClient = true
            case (.ofVehicle, .toPeer, .sessionEnded), (.ofVehicle, .toPeer, .finishGuidance),
                (.ofVehicle, .toPeer, .cancelGuidance):
                self.endForVehicle = true
            default: break
            }
        }
    }

    /// What is wrong at the end of a run of this cell by either clock, and not explained.
    package func problems(_ outcome: FaultOutcome) -> [String] {
        if let problem = outcome.result.problem { return [problem] + outcome.result.gatewayLog }
        var problems: [String] = []
        let (vehicle, client) = (outcome.vehicle, outcome.client)
        if !Self.isExplained(vehicle?.connection) { problems.append("the vehicle is not connected") }
        if !Self.isExplained(client?.connection) { problems.append("the client is not connected") }
        if outcome.history.entries.count >= 5_000 { problems.append("there are too many entries") }
        let losses = Losses(self, outcome.history)
        let mayContinue = losses.publication || losses.cancellation
        if client?.session != nil, !mayContinue, !losses.opening, !losses.endForClient {
            problems.append("the client's session is open")
        }
        if case .connected? = vehicle?.connection, vehicle?.state.session != 0,
            !mayContinue, !losses.endForVehicle
        {
            problems.append("the vehicle is guided")
        }
        for lint in outcome.result.lints {
            for finding in lint.findings where !self.isExplained(lint.rule, finding, losses) {
                problems.append("\(lint.rule) \(finding.text)")
            }
        }
        return problems
    }

    private func isExplained(
        _ rule: String, _ finding: ReportedLint.Finding, _ losses: Losses
    ) -> Bool {
        let text = finding.text
        // What the scenes do wrong on purpose.
        if text.contains("alert 2 is not shown") || text.contains("there is no such request") { return true }
        if finding.peer == .ofClient, losses.altered { return true }
        // A changed frame is not judged, so the rule does not know of this Goodbye.
        return self.name == .corrupt && self.hop.type == .goodbye && rule == LintID.resumeForgotten.rawValue
    }
}
