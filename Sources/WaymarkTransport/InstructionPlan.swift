internal import WaymarkGateway
internal import WaymarkProtocol

/// What each event loop is to do, as it builds up over the events that are worked off together.
struct InstructionPlan {
    private(set) var instructions: [[Instruction]] = []
    /// What is for audiences, since the last instruction for a single connection. An endpoint hears one audience
    /// between two such instructions, so the spans of several need no order among each other.
    private var spans: [(audience: AudienceID, span: Span)] = []
    /// Among how many of the last spans that of an audience is looked for. What a session publishes comes together; more audiences
    /// than this at a time get some of it in two parts, which are as good.
    private static let spansLookedAtMax = 8

    /// - Parameter count: Of event loops.
    init(count: Int) {
        // Why not at once: the library's way is not made for this type, and takes ten times as long.
        for _ in 0..<count { self.instructions.append([]) }
    }

    mutating func publish(_ frames: PublishedFrames, to audience: AudienceID) {
        let recent = self.spans.indices.suffix(Self.spansLookedAtMax)
        guard let place = recent.last(where: { self.spans[$0].audience == audience }) else {
            var span = Span()
            span.append(frames)
            return self.spans.append((audience, span))
        }
        self.spans[place].span.append(frames)
    }

    /// Adds an instruction for one connection of a loop; the spans must have been ended.
    mutating func append(_ instruction: Instruction, to loop: Int) {
        self.instructions[loop].append(instruction)
    }

    /// Ends the spans that were being put together: what comes now must come behind them.
    ///
    /// - Parameter reach: As it was while they were published.
    mutating func endSpans(_ reach: AudienceReach) {
        guard !self.spans.isEmpty else { return }
        for (audience, span) in self.spans {
            if self.instructions.count == 1 {
                self.instructions[0].append(.publish(audience, span))
            } else {
                for loop in reach.loops(of: audience) {
                    self.instructions[loop].append(.publish(audience, span))
                }
            }
        }
        self.spans.removeAll(keepingCapacity: true)
    }
}

/// On which event loops an audience has members: the others are not woken for it.
struct AudienceReach {
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
