package import Foundation
internal import Synchronization
package import WaymarkClient
internal import WaymarkCodec
package import WaymarkInspector
internal import WaymarkProtocol
internal import WaymarkRecording

/// Observes a gateway and remembers what it was told lately.
package final class LiveFeed: Sendable {
    fileprivate struct State {
        var source: InspectedSource
        var findings = FindingBook()
        /// Rises with everything that the page could show.
        var version: UInt64 = 0
        var counterParts: [CounterReport] = []
        var counterValueCount = 0
        /// Values of one answer of the gateway that are kept.
        static let counterValuesMax = 1_048_576
    }

    /// A destination that a client offered to a vehicle, and that cannot be answered any more.
    package struct EndedShare: Sendable, Hashable {
        package let vehicle: String
        /// The session's id on the wire.
        package let session: UInt32
        /// Differs from that of every other open share of the session.
        package let id: String

        package init(vehicle: String, session: UInt32, id: String) {
            (self.vehicle, self.session, self.id) = (vehicle, session, id)
        }
    }

    /// Of all vehicles, for one reader.
    package let endedShares: AsyncStream<EndedShare>
    private let shareEnd: AsyncStream<EndedShare>.Continuation
    private let state: Mutex<State>
    private let isRedacted: Bool
    private let clock = FeedClock()

    /// A feed that remembers up to `bytesMax` bytes. `address` is for people.
    package init(_ address: String, isRedacted: Bool, bytesMax: Int = 67_108_864) {
        let history = RecentHistory(at: RecordingTime.now, bytesMax: bytesMax)
        var source = InspectedSource("live", name: address, .recent(history), isRedacted: isRedacted)
        source.connection = ["state": "connecting"]
        self.isRedacted = isRedacted
        (self.endedShares, self.shareEnd) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        self.state = Mutex(State(source: source))
    }

    // MARK: What is told

    /// Handles what an observer of the gateway gets; it must want state, events and frames.
    ///
    /// `date`: when; nil: now.
    package func handle(_ event: ObservationTap.Event, at date: Date? = nil) {
        let now = self.clock.time(date)
        self.state.withLock { state in
            switch event {
            case .welcomed(let welcome):
                state.source.welcome = welcome
                state.change { $0.welcome(welcome.gateway.instance.rawValue) }
            case .received(.counters(let report)): state.apply(report)
            case .received(let message): state.apply(self.shown(message), at: now)
            case .state(let connection): state.apply(connection, at: now)
            }
            state.version += 1
        }
        if case .received(.observedFrames(let told)) = event { self.lookForEndedShares(told) }
    }

    private func lookForEndedShares(_ told: ObservedFrames) {
        // The gateway tells the client alone, and no audience.
        guard told.direction == .out, told.audience == 0 else { return }
        for frame in Frame.all(in: told.frames) where frame.header.type == .destinationShareStatus {
            do throws(DecodingError) {
                guard case .destinationShareStatus(let status) = try Codec.decode(frame).message,
                    status.stage != .willShare
                else { continue }
                self.shareEnd.yield(
                    EndedShare(
                        vehicle: status.vehicle.rawValue, session: frame.header.session.rawValue,
                        id: status.shareID.rawValue))
            } catch { /* Of a newer gateway; the share ends at its deadline. */  }
        }
    }

    private func shown(_ message: Message) -> Message {
        guard self.isRedacted else { return message }
        switch message {
        case .observedFrames(var told):
            told.frames = Codec.redacted(told.frames)
            told.isRedacted = true
            return .observedFrames(told)
        case .observedRecords(var records):
            for index in records.retained.indices {
                records.retained[index].frames = Codec.redacted(records.retained[index].frames)
            }
            return .observedRecords(records)
        default: return message
        }
    }

    /// Time has passed: rules that wait decide.
    package func advance(to date: Date? = nil) {
        let now = self.clock.time(date)
        self.state.withLock { state in
            guard case .recent(let history) = state.source.history else { return }
            let count = state.findings.count
            state.findings.advance(to: now, history.state)
            if state.findings.count != count { state.version += 1 }
        }
    }

    // MARK: What is known

    /// Rises with everything that the page could show.
    package var version: UInt64 { self.state.withLock { $0.version } }

    /// What is known now.
    package var snapshot: (source: InspectedSource, findings: FindingBook) {
        self.state.withLock { ($0.source, $0.findings) }
    }
}

extension LiveFeed.State {
    fileprivate mutating func change(_ body: (inout RecentHistory) -> Void) {
        guard case .recent(var history) = self.source.history else { return }
        // So that it is not copied.
        self.source.history = .recent(RecentHistory(at: history.begin))
        body(&history)
        self.source.history = .recent(history)
    }

    fileprivate mutating func apply(_ message: Message, at now: RecordingTime) {
        var (state, time) = (RecordedState(), now)
        self.change { history in
            history.apply(message, at: now)
            (state, time) = (history.state, history.end)
        }
        self.findings.see(message, state, at: time)
    }

    fileprivate mutating func apply(_ report: CounterReport) {
        // Parts beyond it are left out.
        if self.counterValueCount < Self.counterValuesMax || report.isLast {
            self.counterParts.append(report)
            self.counterValueCount +=
                report.counters.count + report.connections.count + report.sessions.count
        }
        guard report.isLast else { return }
        self.source.measure(self.counterParts)
        (self.counterParts, self.counterValueCount) = ([], 0)
    }

    fileprivate mutating func apply(_ connection: ConnectionState, at now: RecordingTime) {
        let wasConnected = self.source.connection["state"] == "connected"
        var since = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        switch connection {
        case .connected: break
        case .connecting, .closed:
            // The state of the time at which the connection was lost stays, however often it was tried again since.
            if !wasConnected, let lost = self.source.connection["since"] { since = lost }
        }
        switch connection {
        case .connecting:
            guard self.source.connection["state"] != "connecting" else { return }
            self.source.connection = ["state": "connecting", "since": since]
            if wasConnected { self.loseConnection(at: now) }
        case .connected(let isResumed):
            self.source.connection = ["state": "connected", "since": since]
            (self.counterParts, self.counterValueCount) = ([], 0)
            self.findings.connectionChanged(true, at: now)
            self.change { history in
                guard history.counts.entries > 0 else { return }
                history.connectionChanged("connected", resumed: isResumed, at: now)
            }
        case .closed(let error):
            self.source.connection = ["state": "closed", "since": since, "reason": "\(error)"]
            if wasConnected { self.loseConnection(at: now) }
        }
    }

    private mutating func loseConnection(at now: RecordingTime) {
        self.change { $0.connectionChanged("connecting", resumed: nil, at: now) }
        self.findings.connectionChanged(false, at: now)
    }
}
