internal import Synchronization
internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Writes what an observer is told, in order.
final class RecordingSession: Sendable {
    private struct State {
        var recorder: Recorder
        var files: RecordingFiles<RecordingFolder>
        var isOver = false
        var wasConnected = false
        /// The gateway has begun to tell.
        var isObserving = false
        /// The file of which nothing was said yet.
        var unnamed: String?
        var isHiddenNoted = false
        var isUnremovedNoted = false
        var isMissingContentNoted = false
        /// The connection was lost, and this was told.
        var isLost = false
        /// Why nothing more can be written.
        var failure: CommandFailure?
    }

    private let state: Mutex<State>
    private let onFailure: @Sendable () -> Void

    /// `onFailure` is called if a file cannot be written: the recording is over then.
    init(
        _ recorder: Recorder, _ files: RecordingFiles<RecordingFolder>,
        onFailure: @escaping @Sendable () -> Void
    ) {
        self.state = Mutex(State(recorder: recorder, files: files))
        self.onFailure = onFailure
    }

    func handle(_ event: ObservationTap.Event) {
        switch event {
        case .welcomed(let welcome):
            self.record(.welcomed(welcome))
            self.state.withLock {
                $0.isLost = false
                self.noteConnection(welcome, &$0)
            }
        case .received(let message): self.record(.received(message))
        case .state(.connecting):
            // Each attempt to connect again begins here.
            let isNews = self.state.withLock { state in
                defer { state.isLost = state.wasConnected }
                return state.wasConnected && !state.isOver && !state.isLost
            }
            guard isNews else { return }
            Terminal.note("connection to the gateway lost; reconnecting")
            self.record(.lost)
        case .state: break
        }
    }

    /// Some time has passed.
    func tick() { self.record(.tick) }

    /// Ends the last file.
    ///
    /// - Returns: What was recorded, in a sentence.
    /// - Throws: Why something could not be written.
    func end() throws -> String {
        self.record(.ended)
        return try self.state.withLock { state in
            state.isOver = true
            if let failure = state.failure { throw failure }
            let counts = state.recorder.counts
            var parts = [
                GuidanceText.counted(Int(clamping: counts.frames), "frame"),
                GuidanceText.counted(Int(clamping: counts.events), "event"),
            ]
            if counts.dropped > 0 { parts.append("\(counts.dropped) dropped entries") }
            let files = GuidanceText.counted(Int(clamping: counts.files), "file")
            return "recorded \(parts.joined(separator: ", ")) in \(files)"
        }
    }

    /// Ends the last file, if it has not ended; says nothing.
    func endAtOnce() {
        self.record(.ended)
        self.state.withLock { $0.isOver = true }
    }

    private func record(_ event: Recorder.Event) {
        let hasFailed = self.state.withLock { state in
            guard !state.isOver else { return false }
            let now = RecordingMoment.now
            var actions: [Recorder.Action] = []
            state.recorder.handle(event, at: now, into: &actions)
            do throws(RecordingError) {
                try state.files.perform(actions, at: now)
            } catch {
                let name = state.files.current.map(state.files.storage.path(of:))
                let kept = state.recorder.counts.frames > 0 ? "; what it has is readable" : ""
                state.failure = CommandFailure(
                    "\(name ?? state.files.storage.path) cannot be written: \(error)\(kept)")
                state.files.close()
                state.isOver = true
                return true
            }
            Self.noteUnremoved(&state)
            Self.noteMissingContent(&state)
            if actions.contains(.open) { state.unnamed = state.files.current }
            if case .received(.observationBegin) = event { state.isObserving = true }
            if state.isObserving, let name = state.unnamed {
                Terminal.line(Terminal.printable("recording to \(state.files.storage.path(of: name))"))
                state.unnamed = nil
            }
            return false
        }
        if hasFailed { self.onFailure() }
    }

    /// Once, until it could be removed.
    private static func noteUnremoved(_ state: inout State) {
        defer { state.isUnremovedNoted = state.files.unremoved != nil }
        guard let unremoved = state.files.unremoved, !state.isUnremovedNoted else { return }
        let path = state.files.storage.path(of: unremoved.name)
        Terminal.note("\(path) is no longer kept, but cannot be removed: \(unremoved.error)")
    }

    /// Once, until all content is recorded again.
    private static func noteMissingContent(_ state: inout State) {
        let isMissing = state.recorder.sessionsWithoutContent > 0
        defer { state.isMissingContentNoted = isMissing }
        guard isMissing, !state.isMissingContentNoted else { return }
        Terminal.note(
            "the recorded states leave out the content of some sessions: all of it would take more than 1 GiB; "
                + "what they publish from now on is recorded")
    }

    private func noteConnection(_ welcome: Welcome, _ state: inout State) {
        if state.wasConnected {
            Terminal.note(
                welcome.isResumed
                    ? "connected again" : "connected again; what happened meanwhile is missing")
        }
        state.wasConnected = true
        guard welcome.visibility == .state, !state.isHiddenNoted else { return }
        state.isHiddenNoted = true
        Terminal.note(
            "texts and places are hidden and will not be in the recording; `observe: content` of the listener, "
                + "in the settings of waymarkd, shows them")
    }
}
