internal import NIOCore
internal import WaymarkGateway
internal import WaymarkProtocol

/// Has done on each event loop what the gateway wants there: on its own one at once, on the others once for all that was
/// worked off together. Lives on the gateway's loop, which is the first.
final class Dispatcher {
    typealias Loop = (loop: any EventLoop, shard: NIOLoopBoundBox<LoopShard>)

    private let loops: [Loop]
    /// That of the gateway's loop, which is not asked each time whether it may be used here.
    private lazy var home = self.loops[0].shard.value
    /// For the other loops, by their numbers.
    private var instructions: [[Instruction]]
    /// Worked off, but the loop of the connection need not be woken for that alone. By loop.
    private var batchesDone: [[ConnectionID]]
    /// What is for audiences, since the last instruction for a single connection. An endpoint hears one audience
    /// between two such instructions, so the spans of several need no order among each other.
    private var spans: [(audience: AudienceID, span: Span)] = []
    private var reach = AudienceReach()
    /// Among how many of the last spans that of an audience is looked for. What a session publishes comes together; more audiences
    /// than this at a time get some of it in two parts, which are as good.
    private static let spansLookedAtMax = 8

    init(_ loops: [Loop]) {
        self.loops = loops
        self.instructions = Array(repeating: [], count: loops.count)
        self.batchesDone = Array(repeating: [], count: loops.count)
    }

    /// Frames for an audience: what is published in a row goes out at once.
    func publish(_ frames: PublishedFrames, to audience: AudienceID) {
        // Why not in their place: each look at them would be checked then.
        var spans = self.spans
        self.spans = []
        let recent = spans.indices.suffix(Self.spansLookedAtMax)
        if let place = recent.last(where: { spans[$0].audience == audience }) {
            spans[place].span.append(frames)
        } else {
            var span = Span()
            span.append(frames)
            spans.append((audience, span))
        }
        self.spans = spans
    }

    /// An instruction for a connection of a loop, behind all that was published before.
    func instruct(_ loop: Int, _ instruction: consuming Instruction) {
        if !self.spans.isEmpty { self.endSpans() }
        guard loop != 0 else { return self.home.perform(instruction) }
        self.instructions[loop].append(instruction)
    }

    /// Flushes whoever was written to on the gateway's loop.
    func flush() { self.home.flush() }

    /// The same, unless what comes next goes out together with what was written last.
    func flush(before connection: ConnectionID) { self.home.flush(before: connection) }

    /// The gateway has worked off a batch of a connection of a loop.
    func finishBatch(of connection: ConnectionID, on loop: Int) {
        guard loop != 0 else { return self.home.finishBatch(of: connection) }
        self.batchesDone[loop].append(connection)
    }

    /// A connection of a loop hears an audience from now on, see ``instruct(_:_:)``.
    func join(_ audience: AudienceID, on loop: Int) { if loop != 0 { self.reach.join(audience, on: loop) } }

    /// A connection of a loop hears an audience no more.
    func leave(_ audience: AudienceID, on loop: Int) { if loop != 0 { self.reach.leave(audience, on: loop) } }

    /// All is worked off: the other loops hear of it, and whoever was written to is flushed.
    func finish() {
        self.endSpans()
        for index in self.loops.indices.dropFirst() {
            // As long as a connection is sure to be read on, another loop is not woken just to hear of batches.
            let isDue = self.batchesDone[index].count >= ConnectionHandler.batchesMax - 1
            guard isDue || !self.instructions[index].isEmpty else { continue }
            let (loop, shard) = self.loops[index]
            let (instructions, batchesDone) = (self.instructions[index], self.batchesDone[index])
            self.instructions[index] = []
            self.batchesDone[index] = []
            loop.execute { shard.value.perform(instructions, batchesDone) }
        }
        self.flush()
    }

    /// What comes now must come behind the spans that were being put together.
    private func endSpans() {
        var spans = self.spans
        self.spans = []
        spans.drain { audience, span in
            for loop in self.reach.loops(of: audience) {
                self.instructions[loop].append(.publish(audience, span))
            }
            self.home.perform(.publish(audience, span))
        }
        self.spans = spans
    }
}

/// On which event loops but the gateway's own an audience has members: the others are not woken for it.
private struct AudienceReach {
    /// Members by loop.
    private var counts: [AudienceID: [Int: Int]] = [:]

    func loops(of audience: AudienceID) -> Dictionary<Int, Int>.Keys { (self.counts[audience] ?? [:]).keys }

    mutating func join(_ audience: AudienceID, on loop: Int) {
        self.counts[audience, default: [:]][loop, default: 0] += 1
    }

    mutating func leave(_ audience: AudienceID, on loop: Int) {
        guard let count = self.counts[audience]?[loop] else { return }
        self.counts[audience]?[loop] = count > 1 ? count - 1 : nil
        if self.counts[audience]?.isEmpty == true { self.counts[audience] = nil }
    }
}
