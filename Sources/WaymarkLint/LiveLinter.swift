package import Foundation
package import WaymarkClient
internal import WaymarkHistory
package import WaymarkProtocol

/// Judges what an observer is told, as it comes.
///
/// What it is not told is not judged: after a gap it begins again. Why a value with dates: an observer has no other clock.
package struct LiveLinter: Sendable {
    /// The seconds after which an observer is told of a frame, at most. Deadlines of rules are later by it.
    private static let delay = 1.0
    /// After a reconnect, what was missed comes first.
    private static let catchUpTime = 2.0

    private var linter: Linter
    /// The date of the first instant.
    private var begin: Date?
    /// Of the newest entry: those of an observer can go back a little.
    private var instant = Instant(nanoseconds: 0)
    private var isConnected = true
    /// Rules do not decide before.
    private var resumed = Date.distantPast

    /// Judges routes of up to `routeBytesMax`, see ``unjudgedCount``.
    package init(allowing allowances: [LintAllowance] = [], routeBytesMax: Int = 67_108_864) {
        self.linter = Linter(allowing: allowances, routeBytesMax: routeBytesMax)
    }

    package var summary: [Linter.Count] { self.linter.summary }
    package var unusedAllowances: [LintAllowance] { self.linter.unusedAllowances }
    package var findingCount: Int { self.linter.findingCount }
    /// The number of sessions that are not judged, because the routes of all would take too much memory.
    package var unjudgedCount: Int { self.linter.unjudgedCount }

    /// When an entry happened.
    package func date(of instant: Instant) -> Date {
        (self.begin ?? Date(timeIntervalSince1970: 0))
            .addingTimeInterval(Double(instant.nanoseconds) / 1e9)
    }

    // MARK: What happens

    /// Sees an update. Each finding's entry has the number of its update.
    package mutating func see(_ update: GatewayUpdate) -> [Finding] {
        let begin = self.begin ?? update.time
        self.begin = begin
        self.instant = max(self.instant, Self.instant(of: update.time, since: begin))
        if case .synchronized = update.content { self.linter.forget() }
        if case .dropped = update.content { self.linter.forget() }
        var findings: [Finding] = []
        // Frames are judged one by one: decoded they take several times their bytes, and a state may have very many.
        Self.forEachKind(of: update.content, at: self.instant) { kind in
            findings += self.linter.see(
                History.Entry(index: Int(clamping: update.number), instant: self.instant, kind: kind))
        }
        return findings
    }

    /// Time has passed: rules that wait decide.
    package mutating func advance(to date: Date) -> [Finding] {
        guard let begin, self.isConnected, date >= self.resumed else { return [] }
        let instant = Self.instant(of: date.addingTimeInterval(-Self.delay), since: begin)
        guard instant > self.instant else { return [] }
        self.instant = instant
        return self.linter.advance(to: instant)
    }

    /// The connection to the gateway was lost, or is there again.
    package mutating func connectionChanged(_ isConnected: Bool, at date: Date) {
        if isConnected, !self.isConnected { self.resumed = date.addingTimeInterval(Self.catchUpTime) }
        self.isConnected = isConnected
    }

    private static func instant(of date: Date, since begin: Date) -> Instant {
        let seconds = min(max(0, date.timeIntervalSince(begin)), 1e9)
        return Instant(nanoseconds: Int64(seconds * 1e9))
    }

    // MARK: Entries

    private static func forEachKind(
        of content: GatewayUpdate.Content, at instant: Instant, _ body: (History.Kind) -> Void
    ) {
        switch content {
        case .frame(let frame): self.kinds(of: frame, at: instant).forEach(body)
        case .event(let event): if let kind = self.kind(of: event) { body(kind) }
        case .synchronized(let snapshot): self.forEachKind(of: snapshot, at: instant, body)
        case .dropped, .missed: break
        }
    }

    private static func kinds(of frame: ObservedFrame, at instant: Instant) -> [History.Kind] {
        switch frame.way {
        case .from(let name):
            PeerID(observed: name).map {
                [.frame(CrossedFrame(frame, of: $0, .toGateway, at: instant))]
            } ?? []
        case .to(let names):
            names.compactMap { name in
                PeerID(observed: name).map { .frame(CrossedFrame(frame, of: $0, .toPeer, at: instant)) }
            }
        }
    }

    private static func kind(of event: GatewayEvent) -> History.Kind? {
        guard let peer = PeerID(observed: event.peer) else { return nil }
        return switch event.kind {
        case .admitted: .connection(peer, .admitted(resumed: false))
        case .resumed: .connection(peer, .admitted(resumed: true))
        case .departed: .connection(peer, .ended(event.code == 1 ? .normal : nil))
        default: nil
        }
    }

    /// What is there already: who is away, and what each session retains.
    private static func forEachKind(
        of snapshot: GatewaySnapshot, at instant: Instant, _ body: (History.Kind) -> Void
    ) {
        for client in snapshot.clients {
            guard case .away = client.presence, let peer = PeerID(observed: client.id) else { continue }
            body(.connection(peer, .ended(nil)))
        }
        for session in snapshot.sessions {
            for frame in snapshot.retainedFrames(of: session.id) {
                self.kinds(of: frame, at: instant).forEach(body)
            }
        }
    }
}
