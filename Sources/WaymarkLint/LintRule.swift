internal import WaymarkProtocol

/// A rule that judges the whole run: what peers say to the gateway and hear from it.
protocol LintRule: Sendable {
    /// When it decides, if nothing happens until then; nil while it waits for nothing.
    var deadline: Instant? { get }
    /// Sees what an entry means. The world has applied it already.
    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext)
    /// Its deadline is reached. It must set another one.
    mutating func deadlineReached(_ world: LintWorld, _ context: inout LintContext)
}

extension LintRule {
    var deadline: Instant? { nil }
    mutating func deadlineReached(_ world: LintWorld, _ context: inout LintContext) {}
}

/// A rule that judges what a client publishes in one session. Each session has its own.
protocol SessionRule: Sendable {
    init()
    /// When it decides, if nothing happens until then; nil while it waits for nothing.
    var deadline: Instant? { get }
    /// Sees what an entry means for its session. The view has applied it already.
    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext)
    /// Its deadline is reached. It must set another one.
    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext)
}

extension SessionRule {
    var deadline: Instant? { nil }
    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {}
}

/// What an entry means for the session of a client.
enum SessionStep: Sendable {
    /// The client published this, and it fits the session.
    case published(Publication)
    /// The client's connection began or ended.
    case connection
}
