internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

/// What a client has published in one session and what is not sent yet: enough to resume after any loss.
///
/// A value without I/O. ``publish(_:)`` queues publications, ``dequeuePending(session:)`` returns numbered frames. After a
/// reconnect ``resume(after:)`` sends the last ones again, or ``restart()`` restates the whole session. ``reject(_:)`` undoes
/// what the gateway refused.
///
///     base (accepted) ── recent (sent, may be refused or lost) ──▶ ── queue (not sent) ──▶ content
///
/// All of it is bounded: `recent` by what the gateway has acknowledged, and towards one that acknowledges nothing in bytes and number;
/// the queue in bytes and number; the content by the limits of a route. Beyond the queue's bound only the content is kept, and
/// restated on the next connection.
struct PublishedState: Sendable, Hashable {
    /// Bounds of one session's memory, apart from its content.
    struct Limits: Sendable, Hashable {
        var queueBytesMax = 4_194_304
        var queueCountMax = 4_096
        var recentBytesMax = 1_048_576
        var recentCountMax = 4_096
        /// The encoded size of one route with its additions. A gateway with a lower limit refuses more than that.
        var routeBytesMax = 16_777_216
    }

    private struct Sent: Sendable, Hashable {
        /// Of its frame; of the last frame before it if it has none.
        var sequence: UInt64
        var item: OutgoingPublication
        /// False if all of it was withheld: it changed the content only.
        var hasFrame: Bool
    }

    /// Everything that was published and not refused, also what the gateway withholds.
    private(set) var content = GuidanceContent()
    /// The last number given.
    private(set) var sequence: UInt64 = 0
    /// The last number that the gateway has acknowledged.
    private(set) var acknowledged: UInt64 = 0
    /// The largest frame that the gateway accepts.
    var frameBytesMax = Int(ConnectionLimits().frameBytesMax)
    /// Features that the gateway withholds from this client. Frames leave them out, the content keeps them.
    var withheld: FeatureSet = [] {
        didSet { if self.withheld != oldValue, self.hasSent { self.restateLater() } }
    }
    /// The same of extensions.
    var withheldExtensions: Set<ExtensionName> = [] {
        didSet { if self.withheldExtensions != oldValue, self.hasSent { self.restateLater() } }
    }
    private let limits: Limits
    private var base = GuidanceContent()
    private var recent: [Sent] = []
    private var recentByteCount = 0
    private var queue = PublicationQueue()
    /// The queue was dropped, so the content is restated.
    private var needsRestatement = false
    private var lostShares: [Identifier] = []
    /// Generations are never used twice, not even that of a route that was refused.
    private var generationUsed: UInt32 = 0
    private var routeByteCount = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Something was sent that is not queued again.
    private var hasSent: Bool { !self.recent.isEmpty || self.base != GuidanceContent() }

    /// Of the current route.
    var generation: UInt32 { self.content.generation }

    /// How the app has ended the session, which the gateway may not know yet; nil while it has not.
    var ownEnd: EndReason? {
        self.content.ending.map { $0 == .finishGuidance ? .finished : .cancelledByClient }
    }

    /// The app has ended the session, and that was sent.
    var hasSentEnd: Bool { self.ownEnd != nil && self.isAllSent }

    /// Nothing waits to be sent.
    var isAllSent: Bool { self.queue.items.isEmpty && !self.needsRestatement }

    /// How many publications were sent and may have to be sent again.
    var unacknowledgedCount: Int { self.recent.count }

    /// Shares that are not sent yet.
    var waitingShares: [Identifier] { self.queue.items.compactMap(\.shareID) }

    /// The size of the queue.
    var waitingByteCount: Int { self.queue.byteCount }

    /// A route's generation, not used before.
    mutating func newGeneration() -> UInt32 {
        self.generationUsed += 1
        return self.generationUsed
    }

    /// Queues a publication, split into frames that the gateway accepts.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` naming what is too large, ``ClientError/rejected(field:reason:limit:)`` for a field
    ///   outside of its range or a wrong reference, ``ClientError/sessionEnded(_:)`` after the end. Nothing is queued
    ///   then.
    mutating func publish(_ publication: Publication) throws(ClientError) {
        if let ownEnd { throw .sessionEnded(ownEnd) }
        if publication.type == .shareDestination, self.withheld.contains(.destinationSharing) {
            throw .rejected(field: "", reason: "the gateway withholds destinationSharing from this client")
        }
        let outline = publication.outline
        do throws(Rejection) {
            var added = self.content.added
            try added.apply(outline, limits: .none)
        } catch {
            throw .rejected(field: error.field, reason: error.reason)
        }
        if outline.addsSegments, !self.content.mayHaveSegments {
            throw .rejected(field: "segments", reason: "the trip says that no route segments are available")
        }
        let lacksSegments = self.content.lacksSegmentsAtGateway && !outline.bringsRoute
        let items = try OutgoingPublication.fitting(
            publication, frameBytesMax: self.frameBytesMax, omitting: lacksSegments ? [.routeSegments] : [])
        try self.countRoute(items)
        for item in items {
            self.content.apply(item)
            // Until the content is restated, only shares are queued, which are no part of it.
            if !self.needsRestatement || item.shareID != nil { self.queue.append(item) }
        }
        // The trip has opted in again: the gateway needs the segments.
        if self.content.lacksSegmentsAtGateway, self.content.mayHaveSegments { self.restateLater() }
        self.boundQueue()
    }

    /// Removes and returns what to send now, numbered.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` if the content must be restated to another gateway that accepts only smaller
    ///   frames than that needs.
    mutating func dequeuePending(session: SessionID) throws(ClientError) -> [Frame] {
        if self.needsRestatement || self.queue.items.contains(where: { $0.byteCount > self.frameBytesMax }) {
            try self.restate()
        }
        return self.queue.dequeueAll().compactMap { item in
            let frame = item.frame(
                session: session, sequence: self.sequence.addingSaturating(1), without: self.withheld,
                self.withheldExtensions)
            if frame != nil { self.sequence.addSaturating(1) }
            self.keepRecent(Sent(sequence: self.sequence, item: item, hasFrame: frame != nil))
            return frame
        }
    }

    /// The frame that ends the session at the gateway, whatever is queued.
    mutating func giveUp(session: SessionID) -> Frame {
        self.sequence.addSaturating(1)
        return Codec.encode(
            Envelope(.publication(.cancelGuidance), session: session, sequence: self.sequence))
    }

    /// Removes and returns the shares that were dropped from the queue or can no longer be sent.
    mutating func dequeueLostShares() -> [Identifier] {
        defer { self.lostShares = [] }
        return self.lostShares
    }

    /// Removes a share that is not sent yet.
    mutating func dropShare(_ share: Identifier) {
        guard self.waitingShares.contains(share) else { return }
        self.requeue(self.queue.items.filter { $0.shareID != share })
    }

    // MARK: Answers of the gateway

    /// The gateway has accepted or refused everything up to `sequence`.
    mutating func acknowledge(_ sequence: UInt64) {
        guard sequence > self.acknowledged, sequence <= self.sequence else { return }
        self.acknowledged = sequence
        self.settle(self.recent.firstIndex { $0.sequence > sequence } ?? self.recent.count)
    }

    /// The gateway still has the session up to `sequence`: later publications are sent again.
    mutating func resume(after sequence: UInt64) {
        self.acknowledge(sequence)
        let lost = self.recent.filter { $0.sequence > sequence }
        let isComplete =
            sequence <= self.sequence
            && UInt64(lost.count(where: \.hasFrame)) == self.sequence.subtractingSaturating(sequence)
        self.sequence = sequence
        guard isComplete else { return self.restateLater() }
        self.recent.removeLast(lost.count)
        self.recentByteCount = self.recent.reduce(0) { $0 + $1.item.byteCount }
        self.requeue(lost.map(\.item) + self.queue.items)
        self.boundQueue()
    }

    /// The gateway does not know the session: the content is restated in a new one.
    mutating func restart() {
        self.sequence = 0
        self.acknowledged = 0
        self.restateLater()
    }

    /// Removes the frame `sequence`, which the gateway refused, from the content.
    ///
    /// - Returns: What was refused; nil when it was sent too long ago to be known.
    mutating func reject(_ sequence: UInt64) -> Publication? {
        guard let index = self.recent.firstIndex(where: { $0.sequence == sequence && $0.hasFrame })
        else { return nil }
        let refused = self.recent.remove(at: index).item
        self.recentByteCount -= refused.byteCount
        guard !self.needsRestatement else { return refused.publication }
        self.requeue(self.queue.items)
        self.content = self.sentContent
        for item in self.queue.items { self.content.apply(item) }
        return refused.publication
    }

    /// What was sent as the frame `sequence`; nil when that was too long ago to be known.
    func sent(as sequence: UInt64) -> Publication? {
        self.recent.first { $0.sequence == sequence && $0.hasFrame }?.item.publication
    }

    // MARK: Restating

    /// Drops the queue except shares, which are no part of the content.
    private mutating func restateLater() {
        self.queue.keep { $0.shareID != nil }
        self.needsRestatement = true
    }

    /// Queues the publications of the whole content before what is queued. A session that the app has ended is only ended.
    private mutating func restate() throws(ClientError) {
        var restated: [OutgoingPublication] = []
        if let ending = self.content.ending {
            restated = try OutgoingPublication.fitting(ending, frameBytesMax: self.frameBytesMax)
            self.lostShares += self.waitingShares
            self.queue = PublicationQueue()
        } else {
            for publication in self.content.restatement(generation: self.newGeneration()) {
                restated += try OutgoingPublication.fitting(
                    publication, frameBytesMax: self.frameBytesMax, omitting: self.content.optedOut)
            }
        }
        let shares = self.queue.items.filter { $0.shareID != nil && $0.byteCount <= self.frameBytesMax }
        self.lostShares += Set(self.waitingShares).subtracting(shares.compactMap(\.shareID)).sorted()
        self.needsRestatement = false
        self.recent = []
        self.recentByteCount = 0
        self.base = GuidanceContent()
        self.queue = PublicationQueue()
        self.content = GuidanceContent()
        for item in restated + shares {
            self.queue.append(item)
            self.content.apply(item)
        }
    }

    private mutating func boundQueue() {
        guard
            self.queue.byteCount > self.limits.queueBytesMax
                || self.queue.items.count > self.limits.queueCountMax
        else { return }
        self.lostShares += self.waitingShares
        self.queue = PublicationQueue()
        self.needsRestatement = true
    }

    // MARK: Bookkeeping

    /// The content once everything that was sent has arrived.
    private var sentContent: GuidanceContent {
        self.recent.reduce(into: self.base) { $0.apply($1.item) }
    }

    private mutating func requeue(_ items: [OutgoingPublication]) {
        self.queue = PublicationQueue(after: self.sentContent.cycle)
        for item in items { self.queue.append(item) }
    }

    private mutating func keepRecent(_ sent: Sent) {
        self.recent.append(sent)
        self.recentByteCount += sent.item.byteCount
        let (bytesMax, countMax) = (self.limits.recentBytesMax, self.limits.recentCountMax)
        guard self.recentByteCount > bytesMax || self.recent.count > countMax else { return }
        // Why a quarter at once: removing from the front moves the rest.
        var (dropped, byteCount) = (0, self.recentByteCount)
        while byteCount > bytesMax / 4 * 3 || self.recent.count - dropped > countMax / 4 * 3 {
            byteCount -= self.recent[dropped].item.byteCount
            dropped += 1
        }
        self.settle(dropped)
    }

    /// Keeps only the content of the first `count` publications that were sent.
    private mutating func settle(_ count: Int) {
        for sent in self.recent[..<count] {
            self.base.apply(sent.item)
            self.recentByteCount -= sent.item.byteCount
        }
        self.recent.removeFirst(count)
    }

    /// Keeps a route within the limit.
    private mutating func countRoute(_ items: [OutgoingPublication]) throws(ClientError) {
        var count = self.routeByteCount
        for item in items {
            switch item.publication.rule.adds {
            case .wholeRoute: if item.publication.outline.route != nil { count = item.byteCount }
            case .maneuvers, .laneGuidances, .segments: count += item.byteCount
            case nil: break
            }
        }
        guard count <= self.limits.routeBytesMax else {
            throw .invalid(
                "the route, with all that was added, would take more than \(self.limits.routeBytesMax) bytes; "
                    + "publish only what lies ahead")
        }
        self.routeByteCount = count
    }
}

extension PublicationOutline {
    fileprivate var addsSegments: Bool {
        if case .segments(let segments) = self.content { !segments.isEmpty } else { false }
    }

    /// Whether the publication contains a whole route, which replaces everything added before.
    fileprivate var bringsRoute: Bool { self.route != nil }
}
