internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkTexts

/// The simulated cluster of `waymark cluster` and `waymark demo`: shows its state, answers prompts, and acts on keys.
actor ClusterApp {
    /// How it shows its state.
    enum Output: Sendable { case screen, lines, json }
    /// How prompts to the vehicle's user are answered.
    enum Prompts: String, Sendable, CaseIterable { case yes, no, ask }
    /// The end of guidance after which the cluster ends.
    enum Until: String, Sendable, CaseIterable { case finished, cancelled, ended }
    /// Why the cluster ends.
    enum End: Sendable, Hashable { case asked, reached, timedOut, failed(ClientError) }

    struct Options: Sendable {
        var title = ""
        var output = Output.lines
        /// nil: only watches, answers nothing, and no key sends anything.
        var prompts: Prompts?
        /// Whether a destination that the client shares is taken without a question.
        var takesDestinations = false
        var until: Until?
        /// The states that JSON has.
        var states = ClusterJSON.States.changes
        /// The line about the keys, for the screen.
        var keys: [String] = []
        /// How long a question stays on the screen before it is answered automatically.
        var answerDelay = Duration.zero
        /// Draws a screen.
        var drawLines: @Sendable ([String]) -> Void = { Terminal.draw($0) }
        /// Called after each step of the story.
        var onStep: (@Sendable () -> Void)?
    }

    /// A question to the user that is still open.
    private struct Question {
        enum Reply {
            /// The prompt has come, and no program waits for the answer yet.
            case expected
            case awaited(CheckedContinuation<Bool, Never>)
            /// The user was faster.
            case given(Bool)
        }

        let number: Int
        /// The id of its prompt; nil for a destination that the client shares.
        let prompt: String?
        var text = ""
        var reply = Reply.expected

        var isAnswered: Bool { if case .given = self.reply { true } else { false } }
    }

    let options: Options
    private(set) var endpoint: VehicleEndpoint?
    private(set) var state = VehicleState()
    /// The last state of which all parts have arrived: what the screen shows.
    private var shown = VehicleState()
    /// The trips to choose from, and what the user has chosen; nil without any.
    var preview: ClusterPreview?
    private var connection = "connecting"
    private var wasConnected = false
    /// An update arrived before the `.connected` event; ignore that event when it comes.
    private var isConnectionInferred = false
    private var lostSince: ContinuousClock.Instant?
    private var narrator = Story()
    /// All that happened, oldest first.
    private(set) var story: [String] = []
    private var lastManeuver: String?
    private var lastSpeedLimit: String?
    private(set) var status = ""
    /// Oldest first; the user sees and answers the last one.
    private var questions: [Question] = []
    private var questionsAsked = 0
    /// A question that is shown while it is answered automatically.
    private var answering: String?
    var entry: ClusterEntry?
    var routeSource = RouteSource.inactive
    /// Whether the client was told last that the battery lasts.
    var saysBatteryLasts = false
    var contentStyle = ContentStyle.light
    /// The id of the request that a command sent last.
    var lastRequest: String?
    private let end: AsyncStream<End>.Continuation
    /// How it ended: the first element.
    let ends: AsyncStream<End>

    /// A longer story loses its oldest steps.
    private static let storyMax = 1_000
    /// Older questions are dropped.
    private static let questionsMax = 64

    init(_ options: Options) {
        self.options = options
        (self.ends, self.end) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Uses a connected endpoint.
    func attach(_ endpoint: VehicleEndpoint) async {
        self.endpoint = endpoint
        let states = await endpoint.connectionStates
        Task { for await state in states { self.apply(state) } }
    }

    /// The cluster ends.
    func finish(_ end: End = .asked) {
        self.dropQuestions { _ in true }
        self.end.yield(end)
    }

    // MARK: Connections and updates

    func apply(_ state: ConnectionState) {
        switch state {
        case .connecting:
            if self.wasConnected { self.lose() } else { self.connection = "waiting for the gateway" }
            self.isConnectionInferred = false
        case .connected:
            if self.isConnectionInferred {
                self.isConnectionInferred = false
                return
            }
            self.connection = "connected"
            (self.wasConnected, self.lostSince) = (true, nil)
        case .closed(.closed): break  // By this program, which is about to end.
        case .closed: if self.wasConnected { self.connection = "closed" }
        }
        // Before the first connection `connectionFailed` reports why there is none.
        let isNews = self.wasConnected || state == .connecting
        if self.options.output == .json, isNews {
            Terminal.line(ClusterJSON.connection(state, at: Date()))
        }
        if let step = self.narrator.sentence(for: state) { self.tell(step) }
        self.draw()
        if case .closed(let error) = state { self.finish(.failed(error)) }
    }

    /// There was never a connection, and no further attempt is made.
    func connectionFailed(_ error: ClientError) {
        guard self.options.output == .json else { return }
        Terminal.line(ClusterJSON.connection(.closed(error), at: Date()))
    }

    private func lose() {
        self.connection = "connection lost, reconnecting"
        self.lostSince = self.lostSince ?? ContinuousClock.now
    }

    func apply(_ update: VehicleUpdate) async {
        // An update may arrive before the state `connected`.
        if !self.wasConnected {
            self.apply(.connected(resumed: false))
            self.isConnectionInferred = true
        }
        let before = self.state
        self.state = update.state
        if update.state.isWhole { self.shown = update.state }
        if case .tripPreviews(let trips, let selected) = update.content {
            self.preview = ClusterPreview(trips, selected: selected)
        } else if update.state.previews.isEmpty {
            self.preview = nil
        }
        switch update.message {
        case .prompt(let prompt) where self.options.prompts == .ask:
            // Why before it is asked: an answer that follows at once is for this prompt, not for an older one.
            _ = self.question(of: prompt.requestID.rawValue)
        case .promptOver(let over): self.dropQuestions { $0.prompt == over.requestID.rawValue }
        default: break
        }
        let step = self.narrator.sentence(for: update)
        switch self.options.output {
        case .json: self.printJSON(update, before)
        case .lines:
            let line = ClusterScreen.maneuverLine(update.state)
            if let step { self.tell(step) }
            if let line, line != self.lastManeuver { Terminal.line(Terminal.printable("  \(line)")) }
            self.lastManeuver = line
            self.printSpeedLimit(update.state)
        case .screen:
            if let step { self.tell(step) }
            self.draw()
        }
        // Not yet while the endpoint connects: what it has then is of no session.
        if update.state.isWhole, let endpoint { await endpoint.markShown(update.state.sequence) }
        if let until = self.options.until, Self.isReached(until, update.state) { self.finish(.reached) }
    }

    private func printSpeedLimit(_ state: VehicleState) {
        let line = SpeedLimitDrawing.words(state.speedLimit, next: state.nextSpeedLimit?.limit)
        if let line, line != self.lastSpeedLimit { Terminal.line(Terminal.printable("  \(line)")) }
        self.lastSpeedLimit = line
    }

    private func printJSON(_ update: VehicleUpdate, _ before: VehicleState) {
        let now = Date()
        Terminal.line(ClusterJSON.message(update, at: now))
        guard update.state != before else { return }
        switch self.options.states {
        case .none: break
        case .changes:
            if let line = ClusterJSON.change(update.state, since: before, at: now) { Terminal.line(line) }
        case .full: Terminal.line(ClusterJSON.state(update.state, at: now))
        case .shown: if update.state.isWhole { Terminal.line(ClusterJSON.state(update.state, at: now)) }
        }
    }

    private static func isReached(_ until: Until, _ state: VehicleState) -> Bool {
        guard case .ended(let reason) = state.phase else { return false }
        let isFinished = reason == .finished
        return switch until {
        case .finished: isFinished
        case .cancelled: !isFinished
        case .ended: true
        }
    }

    // MARK: The story

    /// A step of the story: a line, on the screen or printed.
    func tell(_ step: String) {
        self.story.append(step)
        if self.story.count > Self.storyMax { self.story.removeFirst() }
        switch self.options.output {
        case .screen: self.draw()
        case .lines: Terminal.line(Terminal.printable(step))
        case .json: break  // Told by what it is made from.
        }
        self.options.onStep?()
    }

    /// Shows what a key did, or could not do.
    func show(_ status: String) {
        self.status = status
        if self.options.output == .screen { self.draw() } else { Terminal.note(status) }
    }

    // MARK: Questions

    func ask(_ prompt: WaypointPrompt) async -> Bool {
        // Not told with the update, so that the estimates are shown before the answer.
        self.tell(Story.asked(prompt, self.state))
        return await self.ask(
            "stop at \(Story.name(prompt.waypoint))? \(Story.estimates(prompt.travelEstimates)) to go",
            prompt: prompt.id)
    }

    func ask(_ destination: Waypoint) async -> Bool {
        let text = "drive to \(Story.name(destination)), which the client shares?"
        guard !self.options.takesDestinations else { return await self.answerByItself(text, true) }
        return await self.ask(text)
    }

    private func ask(_ text: String, prompt: String? = nil) async -> Bool {
        switch self.options.prompts {
        case .yes, .no: return await self.answerByItself(text, self.options.prompts == .yes)
        case nil: return false  // A watcher is not asked.
        case .ask: return await self.askUser(text, prompt)
        }
    }

    /// Asks until the user answers, or the question is over, which cancels this task.
    private func askUser(_ text: String, _ prompt: String?) async -> Bool {
        let number = self.question(of: prompt)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.ask(number, text, continuation)
            }
        } onCancel: {
            Task { await self.dropQuestion(number) }
        }
    }

    private func ask(_ number: Int, _ text: String, _ answer: CheckedContinuation<Bool, Never>) {
        guard !Task.isCancelled, let index = self.questions.firstIndex(where: { $0.number == number }) else {
            return answer.resume(returning: false)
        }
        if case .given(let isAccepted) = self.questions[index].reply {
            self.questions.remove(at: index)
            return answer.resume(returning: isAccepted)
        }
        self.questions[index].text = text
        self.questions[index].reply = .awaited(answer)
        if self.options.output == .screen { self.draw() } else { Terminal.note("\(text) [y/n]") }
    }

    /// The number of the question about a prompt, which is new if there is none.
    private func question(of prompt: String?) -> Int {
        if let prompt, let known = self.questions.last(where: { $0.prompt == prompt }) { return known.number }
        self.questionsAsked += 1
        self.questions.append(Question(number: self.questionsAsked, prompt: prompt))
        if self.questions.count > Self.questionsMax, let oldest = self.questions.first {
            self.dropQuestion(oldest.number)
        }
        return self.questionsAsked
    }

    private func dropQuestion(_ number: Int) { self.dropQuestions { $0.number == number } }

    /// These questions need no answer any more.
    private func dropQuestions(where isOver: (Question) -> Bool) {
        let over = self.questions.filter(isOver)
        self.questions.removeAll(where: isOver)
        for question in over {
            if case .awaited(let answer) = question.reply { answer.resume(returning: false) }
        }
        if !over.isEmpty { self.draw() }
    }

    private func answerByItself(_ text: String, _ isAccepted: Bool) async -> Bool {
        if self.options.answerDelay > .zero {
            self.answering = "\(text) … \(isAccepted ? "yes" : "no")"
            self.draw()
            do { try await Task.sleep(for: self.options.answerDelay) } catch { /* Ending. */  }
            self.answering = nil
        }
        self.tell("the vehicle's user says \(isAccepted ? "yes" : "no")")
        return isAccepted
    }

    /// Whether a question to the user is open.
    var isAsking: Bool { self.questions.contains { !$0.isAnswered } }

    /// Answers the last question.
    func answer(_ isAccepted: Bool) {
        guard let index = self.questions.lastIndex(where: { !$0.isAnswered }) else { return }
        guard case .awaited(let answer) = self.questions[index].reply else {
            self.questions[index].reply = .given(isAccepted)
            return
        }
        self.questions.remove(at: index)
        answer.resume(returning: isAccepted)
    }

    // MARK: The screen

    /// Redraws the screen; the age of the state is on it while the connection is lost or the client is away.
    func draw() {
        guard self.options.output == .screen else { return }
        var view = ClusterScreen.View()
        (view.title, view.connection) = (self.options.title, self.connection)
        view.wasConnected = self.wasConnected
        view.lostFor = self.lostSince.map { ContinuousClock.now - $0 }
        // Remaining times are what gets wrong with age.
        view.age = self.shown.estimatesAge() ?? self.shown.age()
        (view.state, view.story, view.status) = (self.shown, self.story, self.status)
        view.question = self.questions.last { !$0.text.isEmpty }.map { "[y/n] \($0.text)" } ?? self.answering
        view.entry = self.entry?.line
        view.preview = self.preview
        view.keys =
            self.preview != nil && self.options.keys == Self.keys ? Self.previewKeys : self.options.keys
        let (columns, rows) = Terminal.size
        self.options.drawLines(ClusterScreen.lines(view, columns: columns, rows: rows))
    }
}
