internal import WaymarkClient
package import WaymarkConfiguration
package import WaymarkHistory
package import WaymarkProtocol
internal import WaymarkRecording
package import WaymarkScenario

// Peers of a scenario that say what they said in a recording.
extension Scenario {
    /// How a scenario names the recording that it replays by itself.
    package static let recordingName = "recording"

    /// A recording's peers of one side or of both, and no others. Its inputs have the recording as ``recordingName``.
    package init(replaying conversation: RecordedConversation, as side: ReplaySide, speed: Double) {
        self.init(file: Self.recordingName, vehicles: [], clients: [])
        let location = SourceLocation(file: Self.recordingName, line: 1, column: 1)
        let replay = Replay(
            recording: Reference(Self.recordingName, at: location), peer: nil, isCompared: true)
        for peer in conversation.peers where side.contains(peer) {
            switch peer {
            case .client(let id):
                var client = Client(id: id)
                (client.replay, client.drivesAtOnce) = (replay, false)
                self.clients.append(client)
            case .endpoint(let id, let name):
                let endpoint = Endpoint(name: name)
                if let index = self.vehicles.firstIndex(where: { $0.id == id }) {
                    self.vehicles[index].endpoints.append(endpoint)
                } else {
                    var vehicle = Vehicle(id: id)
                    (vehicle.replay, vehicle.endpoints) = (replay, [endpoint])
                    self.vehicles.append(vehicle)
                }
            }
        }
        let time = (conversation.end - Instant(nanoseconds: 0)).divided(by: speed)
        var step = Step(at: location)
        step.waiting = .time(time)
        self.steps = [step]
        // Every wait of a replay is bounded. This is for a gateway that answers, but never what it answered.
        self.atMost = time + .seconds(3_600)
    }

    /// All replays, with the peers that they are for.
    package var replays: [(replay: Replay, peer: PeerID)] {
        self.vehicles.flatMap { vehicle in
            vehicle.replay.map { replay in vehicle.peers.map { (replay, $0) } } ?? []
        } + self.clients.compactMap { client in client.replay.map { ($0, client.peer) } }
    }

    /// The name of a peer that is replayed; nil for others.
    func replayedName(of actor: PeerSelector) -> String? {
        self.replays.contains { actor.contains($0.peer) } ? "\(actor)" : nil
    }
}

extension Scenario.Replay {
    /// - Throws: Why a peer of a recording cannot be replayed.
    package func check(_ conversation: RecordedConversation, _ peer: PeerID) throws(ReplayError) {
        // Messages of others name it, too.
        if let name = self.peer, name != "\(peer)", name != peer.vehicle?.rawValue {
            throw .renamed(name, "\(peer)")
        }
        guard conversation.peers.contains(peer) else {
            throw .noSuchPeer("\(peer)", conversation.peers.map { "\($0)" })
        }
        _ = try ReplayPeer(conversation, of: peer)
    }
}

extension RecordedConversation {
    /// Reads a file.
    ///
    /// - Throws: ``ReplayError``.
    package init(path: String, vehicle: VehicleID? = nil) throws(ReplayError) {
        let recording: Recording
        do throws(RecordingError) { recording = try Recording(try FileSource(path: path)) } catch {
            throw .unreadable(error)
        }
        try self.init(recording, vehicle: vehicle)
    }
}

extension ScenarioStage {
    func replayed(_ replay: Scenario.Replay, _ peer: PeerID) throws(ClientError) -> ReplayPeer {
        guard let conversation = self.inputs.recordings[replay.recording.text] else {
            throw .invalid("the recording \(replay.recording.text) was not read")
        }
        do throws(ReplayError) {
            var replayed = try ReplayPeer(conversation, of: peer)
            (replayed.speed, replayed.credential) = (self.inputs.replaySpeed, self.inputs.credential)
            return replayed
        } catch { throw .invalid("\(error)") }
    }

    /// Whether replayed peers received what was recorded, as expectations.
    var comparisons: [ReportedExpectation] {
        self.scenario.replays.flatMap { replay, id -> [ReportedExpectation] in
            guard replay.isCompared, let peer = self.run.peer(id, as: ReplayPeer.self),
                let conversation = self.inputs.recordings[replay.recording.text]
            else { return [] }
            let tolerance =
                self.replayOrders.isEmpty
                ? ReplayTolerance(of: conversation) : ReplayTolerance(of: self.replayed)
            let comparison = ReplayComparison(conversation, self.run.history, [peer], tolerance: tolerance)
            return comparison.expectations(of: peer, at: replay.recording.location, self.run.now)
        }
    }
}

extension ReplayComparison {
    /// One that passed, or each difference as one that failed.
    package func expectations(
        of peer: ReplayPeer, at location: SourceLocation, _ now: Instant
    ) -> [ReportedExpectation] {
        let text = "\(peer.id) receives what was recorded"
        var verdicts = self.differences.filter { $0.peer == peer.id }.map { Verdict.failed($0.failure) }
        if verdicts.isEmpty { verdicts = [.passed(at: now, margin: nil)] }
        return verdicts.map { verdict in
            var expectation = ReportedExpectation(text, at: location, verdict)
            expectation.subjects = [peer.id]
            return expectation
        }
    }
}
