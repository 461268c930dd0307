package import WaymarkClient
internal import WaymarkCodec
package import WaymarkHistory
package import WaymarkProtocol
internal import WaymarkTexts

/// A peer that says what it said in a recording, at the same times.
///
/// It waits for what it had received in the recording before its next frame, so that a slow gateway does not change the order. What the
/// gateway names, sessions and tokens, it replaces by what it is given.
package struct ReplayPeer: RigPeer {
    /// Something that it did not get, or could not say.
    package struct Problem: Sendable, Hashable {
        package let instant: Instant
        /// A sentence.
        package let text: String
    }

    /// What it does next.
    struct Next: Sendable {
        let peer: PeerID
        let order: Int
        let time: Instant
        let isPermitted: Bool
    }

    private enum Transport { case none, connecting, open }

    /// The time for which it waits for a recorded frame before it continues.
    package static let patience = Duration.seconds(5)
    /// After it could not connect.
    private static let retryDelay = Duration.milliseconds(100)

    package let id: PeerID
    package let storage: VehicleLimits?
    /// The credential of a Hello is not in a recording.
    package var credential: [UInt8] = []
    /// The speed of the replay: 1 as recorded, 2 twice as fast.
    package var speed = 1.0
    /// How much later than recorded it said something, at most.
    package private(set) var latenessMax = Duration.zero
    package private(set) var problems: [Problem] = []
    /// What the gateway said when it refused the peer, which it had welcomed in the recording and has not welcomed since. A sentence;
    /// nil if it did not.
    package private(set) var refusal: String?
    /// The gateway's ids of the recording's sessions.
    package private(set) var sessions: [SessionID: SessionID] = [:]
    package private(set) var sentCount = 0
    private let script: ReplayScript
    private var next = 0
    /// Only what comes before this place in the recording is due; nil: everything.
    private var limit: Int?
    private var begin: Instant?
    private var transport = Transport.none
    /// The index of the present connection.
    private(set) var connection = -1
    /// On the present connection, of the frames that a comparison looks at.
    private var receivedCount = 0
    private(set) var hasConnected = false
    private var hasBeenAdmitted = false
    /// What the gateway said last on the present connection, if that was an Error before the Welcome, or a Goodbye.
    private var lastWords: String?
    private var splitter = FrameSplitter(frameBytesMax: .max)
    private var token: ResumptionToken?
    private var met: Set<ReplayScript.Need> = []
    /// What it waited for in vain.
    private var missed: Set<ReplayScript.Need> = []
    /// How many sessions of an endpoint have come, and of each name of a client.
    private var sessionCount = 0
    private var openingCounts: [Identifier: Int] = [:]
    private var waitsSince: Instant?
    private var retry: Instant?
    private var keepalive: Keepalive?
    private var nonce: UInt64 = 0

    /// - Throws: ``ReplayError`` if something that the peer must send is not in the recording.
    package init(_ conversation: RecordedConversation, of peer: PeerID) throws(ReplayError) {
        self.id = peer
        self.script = try ReplayScript(conversation, of: peer)
        let hello = conversation.connections.first { $0.peer == peer }?.hello
        self.storage = hello?.vehicle?.limits
    }

    /// It has said everything.
    package var isOver: Bool { self.next == self.script.items.count }

    /// Whether it has done all up to a place of the recording.
    func isBeyond(_ order: Int) -> Bool {
        self.next == self.script.items.count || self.script.items[self.next].order > order
    }

    package var deadline: Instant? {
        var deadline = self.keepalive?.nextTick
        func consider(_ instant: Instant?) {
            if let instant { deadline = min(deadline ?? instant, instant) }
        }
        consider(self.retry)
        if let waitsSince {
            consider(waitsSince + Self.patience)
        } else if let item = self.due {
            consider(self.time(of: item))
        }
        return deadline
    }

    /// When an item is due; nil before the replay begins.
    private func time(of item: ReplayScript.Item) -> Instant? {
        guard let begin else { return nil }
        let instant = begin + (item.instant - Instant(nanoseconds: 0)).divided(by: self.speed)
        // By itself it does not know what others do at this instant: what it lost its connection with comes before.
        if case .leave = item.action, self.limit == nil { return instant + .nanoseconds(1) }
        return instant
    }

    /// nil before the replay begins, and after it has said everything.
    var upcoming: Next? {
        guard self.next < self.script.items.count else { return nil }
        let item = self.script.items[self.next]
        return self.time(of: item).map {
            Next(
                peer: self.id, order: item.order, time: $0,
                isPermitted: self.limit.map { item.order <= $0 } ?? true)
        }
    }

    /// Its connection is open and has received less than before a place of the recording.
    func lacks(before order: Int) -> Bool {
        self.transport == .open
            && self.receivedCount < self.script.receivedCount(before: order, on: self.connection)
    }

    /// It has waited in vain for its first connection.
    var hasNeverConnected: Bool { !self.hasConnected && self.missed.contains(.transport) }

    /// The next item, if it may be done at its time.
    private var due: ReplayScript.Item? {
        guard self.next < self.script.items.count else { return nil }
        let item = self.script.items[self.next]
        return self.limit.map { item.order <= $0 } ?? true ? item : nil
    }

    // MARK: Events

    package mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction]) {
        switch event {
        case .open: self.begin = self.begin ?? now
        case .transportOpened:
            guard self.transport == .connecting else { break }
            (self.transport, self.splitter) = (.open, FrameSplitter(frameBytesMax: .max))
            self.met.insert(.transport)
            self.hasConnected = true
        case .transportClosed(let error): self.end(error, at: now)
        case .received(let bytes): self.receive(bytes, at: now, into: &actions)
        case .wrote: break
        case .deadlineReached: self.reachDeadlines(at: now, into: &actions)
        case .close:
            self.next = self.script.items.count
            self.sayGoodbye(into: &actions)
        }
        self.advance(at: now, into: &actions)
    }

    /// Lets it do what comes up to a place of the recording.
    mutating func permit(_ order: Int, at now: Instant, into actions: inout [PeerAction]) {
        self.limit = order
        self.advance(at: now, into: &actions)
    }

    private mutating func end(_ error: ClientError?, at now: Instant) {
        guard self.transport == .connecting else { return self.forgetConnection() }
        // Without an error it is the connection before.
        if error != nil { self.retry = now + Self.retryDelay }
    }

    private mutating func forgetConnection() {
        self.transport = .none
        self.keepalive = nil
        self.met.remove(.transport)
        self.met.remove(.welcome)
    }

    private mutating func close(into actions: inout [PeerAction]) {
        self.retry = nil
        guard self.transport != .none else { return }
        self.forgetConnection()
        actions.append(.closeTransport)
    }

    /// The gateway must not keep it for others.
    private mutating func sayGoodbye(into actions: inout [PeerAction]) {
        guard self.transport == .open, self.met.contains(.welcome) else { return self.close(into: &actions) }
        actions.append(.write(Array(Codec.encode(Envelope(.goodbye(Goodbye(.normal)))).bytes)))
        actions.append(.halfClose)
    }

    private mutating func reachDeadlines(at now: Instant, into actions: inout [PeerAction]) {
        if let retry, retry <= now {
            self.retry = nil
            actions.append(.connect)
        }
        guard var keepalive, keepalive.nextTick <= now else { return }
        if keepalive.tick(at: now) == .ping {
            self.nonce += 1
            actions.append(.write(Array(Codec.ping(nonce: self.nonce).bytes)))
        }
        self.keepalive = keepalive
    }

    // MARK: What it says

    private mutating func advance(at now: Instant, into actions: inout [PeerAction]) {
        while let item = self.due, let time = self.time(of: item), time <= now {
            let missing = item.needs.first { !self.met.contains($0) && !self.missed.contains($0) }
            if let missing {
                let since = self.waitsSince ?? now
                self.waitsSince = since
                guard since + Self.patience <= now else { return }
                self.giveUp(missing, before: item, at: now)
                continue
            }
            self.waitsSince = nil
            self.latenessMax = max(self.latenessMax, now - time)
            self.next += 1
            self.perform(item, at: now, into: &actions)
        }
        self.waitsSince = self.due.flatMap { _ in self.waitsSince }
    }

    private mutating func giveUp(_ need: ReplayScript.Need, before item: ReplayScript.Item, at now: Instant) {
        self.waitsSince = nil
        self.missed.insert(need)
        self.problems.append(
            Problem(
                instant: now,
                text:
                    "\(self.id) waited \(ClockText.duration(Self.patience)) for \(need), which it had in the recording before \(item.action.text)"
            ))
    }

    private mutating func perform(
        _ item: ReplayScript.Item, at now: Instant, into actions: inout [PeerAction]
    ) {
        switch item.action {
        case .connect(let leavesOpen):
            if !leavesOpen { self.close(into: &actions) }
            self.forgetConnection()
            self.missed = []
            self.connection += 1
            self.receivedCount = 0
            self.lastWords = nil
            self.transport = .connecting
            actions.append(.connect)
        case .hello(let hello, let resumes):
            self.send(Codec.encode(Envelope(.hello(self.completed(hello, resumes)))), at: now, into: &actions)
        case .send(let frame):
            self.send(self.mapped(frame), at: now, into: &actions)
            if frame.header.type == .goodbye { actions.append(.halfClose) }
        case .sendUnreadable(let header):
            // A tag of field 0.
            self.send(self.mapped(Frame(header: header, body: [0])), at: now, into: &actions)
        case .leave: self.close(into: &actions)
        }
    }

    private mutating func send(_ frame: Frame, at now: Instant, into actions: inout [PeerAction]) {
        guard self.transport == .open else {
            let name = frame.header.type?.title ?? "a frame"
            let reason = self.lastWords.map { " (\($0))" } ?? ""
            return self.problems.append(
                Problem(
                    instant: now, text: "\(self.id) could not send \(name): its connection was over\(reason)")
            )
        }
        self.sentCount += 1
        self.keepalive?.noteSent()
        actions.append(.write(Array(frame.bytes)))
    }

    private func completed(_ hello: Hello, _ resumes: Bool) -> Hello {
        var hello = hello
        hello.credential = Credential(self.credential)
        hello.resumptionToken = resumes ? self.token : nil
        if hello.resumeSession != .none {
            hello.resumeSession = self.sessions[hello.resumeSession] ?? hello.resumeSession
            // A Hello names a session only with a token; this one is not valid, as it was not in the recording.
            hello.resumptionToken = hello.resumptionToken ?? ResumptionToken(high: 0, low: 1)
        }
        return hello
    }

    /// The frame with the session's id of this gateway.
    private func mapped(_ frame: Frame) -> Frame {
        var header = frame.header
        header.session = self.sessions[header.session] ?? header.session
        return Frame(header: header, body: frame.body)
    }

    // MARK: What it hears

    private mutating func receive(_ bytes: [UInt8], at now: Instant, into actions: inout [PeerAction]) {
        guard self.transport == .open else { return }
        self.splitter.append(bytes)
        while self.transport == .open {
            do throws(FramingError) {
                guard let frame = try self.splitter.next() else { return }
                self.receive(frame, at: now, into: &actions)
            } catch {
                self.problems.append(
                    Problem(instant: now, text: "\(self.id) received bytes that are no frame: \(error)"))
                return self.close(into: &actions)
            }
        }
    }

    private mutating func receive(_ frame: Frame, at now: Instant, into actions: inout [PeerAction]) {
        self.keepalive?.noteReceived()
        let crossed = CrossedFrame(frame, of: self.id, .toPeer, sent: now)
        if let need = ReplayScript.need(metBy: crossed) { self.met.insert(need) }
        if ReplayScript.isCounted(crossed) { self.receivedCount += 1 }
        switch crossed.message {
        case .welcome(let welcome):
            self.token = welcome.resumptionToken
            self.hasBeenAdmitted = true
            let interval = min(max(welcome.keepaliveMilliseconds, 1_000), 600_000)
            guard !self.script.silent.contains(self.connection) else { break }
            self.keepalive = Keepalive(interval: .milliseconds(Int64(interval)), at: now)
        case .ping(let nonce, _):
            guard !self.script.silent.contains(self.connection) else { break }
            self.keepalive?.noteSent()
            actions.append(.write(Array(Codec.encode(Envelope(.pong(nonce: nonce))).bytes)))
        case .sessionOpened(let opened): self.learn(opened)
        case .snapshotBegin: self.learn(frame.header.session)
        case .error where !self.met.contains(.welcome): self.lastWords = FrameText.text(crossed)
        case .goodbye:
            self.learnEnd(crossed, at: now)
            // What it said after the gateway's Goodbye, it says again.
            guard !self.speaksOn else { break }
            self.close(into: &actions)
        default: break
        }
    }

    private mutating func learnEnd(_ goodbye: CrossedFrame, at now: Instant) {
        let isRefused = !self.met.contains(.welcome)
        let words = [isRefused ? self.lastWords : nil, FrameText.text(goodbye)].compactMap(\.self)
            .joined(separator: ", ")
        self.lastWords = words
        guard isRefused, self.script.admitted.contains(self.connection) else { return }
        let text = "the gateway refused \(self.id): \(words)"
        guard self.hasBeenAdmitted else { return self.refusal = self.refusal ?? text }
        self.problems.append(Problem(instant: now, text: text))
    }

    /// Whether it has more to say on this connection.
    private var speaksOn: Bool {
        guard self.next < self.script.items.count else { return false }
        if case .connect = self.script.items[self.next].action { return false }
        return true
    }

    private mutating func learn(_ opened: SessionOpened) {
        let place = self.openingCounts[opened.requestID, default: 0]
        self.openingCounts[opened.requestID] = place + 1
        guard let recorded = self.script.openings[opened.requestID], place < recorded.count else { return }
        self.sessions[recorded[place]] = opened.session
        self.met.insert(.session(recorded[place]))
    }

    /// An endpoint hears of its sessions in the order of the recording.
    private mutating func learn(_ session: SessionID) {
        guard !self.sessions.values.contains(session), self.sessionCount < self.script.sessions.count else {
            return
        }
        let recorded = self.script.sessions[self.sessionCount]
        self.sessionCount += 1
        self.sessions[recorded] = session
        self.met.insert(.session(recorded))
    }
}

extension [ReplayPeer] {
    /// Of all of them, in the order in which they arose.
    package var problems: [ReplayPeer.Problem] {
        self.flatMap(\.problems).sorted { $0.instant < $1.instant }
    }
}

extension Duration {
    func divided(by speed: Double) -> Duration {
        // Why: exactly the recorded instant, for timers that need it.
        speed == 1 ? self : .nanoseconds(Int64(saturating: Double(self.nanoseconds) / speed))
    }
}

extension ReplayScript.Action {
    var text: String {
        switch self {
        case .connect: "it connected"
        case .hello: "its Hello"
        case .send(let frame): frame.header.type?.title ?? "a frame"
        case .sendUnreadable: "a frame that cannot be read"
        case .leave: "it left"
        }
    }
}
