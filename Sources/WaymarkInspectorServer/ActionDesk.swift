package import Foundation
package import WaymarkClient
package import WaymarkInspector
internal import WaymarkModel
internal import WaymarkTexts

/// Speaks for vehicles, each through an endpoint of its own that shows nothing, or what a display of a chosen configuration holds.
///
/// An endpoint connects at the first action of its vehicle, and leaves some time after the last.
package actor ActionDesk {
    package struct Settings: Sendable {
        /// Of a listener for vehicles.
        package var address = ServiceAddress.defaultVehicle
        /// Its pre-shared key; empty for none.
        package var credential: [UInt8] = []
        /// Unique among the endpoints of a vehicle.
        package var endpoint = "inspector"
        /// How long an endpoint stays after its last action.
        package var idleTime = Duration.seconds(60)
        /// The same of one that is connected as a display: a page that was closed does not say so.
        package var displayTime = Duration.seconds(3_600)
        /// How long a shared destination can be answered: the gateway's own limit, unless it is set otherwise there.
        package var shareTime = Duration.seconds(10)
        /// Places that the gateway tells are not shown.
        package var isRedacted = false

        package init() {}
    }

    private struct OpenPrompt {
        /// Two prompts can have the same id, one after the other.
        let number: Int
        let prompt: WaypointPrompt
        let since: Date
        let answer: CheckedContinuation<Bool, Never>
    }

    private struct OpenShare {
        let number: Int
        let shared: SharedDestination
        let deadline: Date
        /// nil: the inspector does not answer.
        let answer: CheckedContinuation<RequestResult?, Never>
        /// Ends it at its deadline.
        let timer: Task<Void, Never>

        var id: String { "share-\(self.number)" }
    }

    private final class Speaker {
        /// nil while it connects.
        var endpoint: VehicleEndpoint?
        /// nil for one that only speaks.
        let configuration: ConnectedConfiguration?
        /// The state that it holds, and the last messages that it received; only with a configuration.
        var held = VehicleState()
        var received: [(message: String, at: Date)] = []
        /// The first one is shown.
        var prompts: [OpenPrompt] = []
        var share: OpenShare?
        var lastUse = ContinuousClock.now

        init(_ configuration: ConnectedConfiguration?) { self.configuration = configuration }
    }

    /// Open actions of all vehicles that wait for the answer of another program, at most.
    private static let answeredMax = 8
    private static let speakersMax = 8
    private static let promptsMax = 16
    private static let failuresMax = 64
    /// Messages that are kept of those that a display received.
    private static let receivedMax = 50
    /// The time that an endpoint that has just connected may take to get the trips that its vehicle is offered.
    private static let previewTime = Duration.seconds(2)

    private let settings: Settings
    private var speakers: [String: Speaker] = [:]
    /// The gateway may ask something before it is known that the endpoint is connected.
    private var connecting: [String: Speaker] = [:]
    private var leaving: Set<String> = []
    private var failures: [String: String] = [:]
    private var journal = ActionJournal()
    private var actionCount = 0
    private var promptCount = 0
    private var shareCount = 0
    /// Rises with each change.
    package private(set) var version: UInt64 = 0

    package init(_ settings: Settings) { self.settings = settings }

    // MARK: What is known

    /// As the page gets it. `begin`: where the page's seconds begin.
    package func object(_ vehicle: String, since begin: Date) -> Data {
        var endpoint = Answer.OwnEndpoint(endpoint: self.settings.endpoint, state: "absent")
        let speaker = self.speakers[vehicle]
        if speaker != nil {
            endpoint.state = "connected"
            if let speaker, let configuration = speaker.configuration {
                self.describe(speaker, configuration, &endpoint, since: begin)
            }
        } else if let reason = self.failures[vehicle] {
            (endpoint.state, endpoint.reason) = ("refused", reason)
        }
        let prompt = speaker?.prompts.first.map { open in
            Answer.Prompt(
                requestID: open.prompt.id, waypoint: self.place(open.prompt.waypoint),
                travelEstimates: JSONPart(ModelJSON.estimates(open.prompt.travelEstimates)),
                deadline: open.since.timeIntervalSince(begin) + open.prompt.timeout / .seconds(1))
        }
        let share = speaker?.share.map { open in
            Answer.OfferedShare(
                shareID: open.id, destination: self.place(open.shared.destination),
                deadline: open.deadline.timeIntervalSince(begin))
        }
        let done = self.journal[vehicle].reversed().map { Answer.Action($0, since: begin) }
        let actions = Answer.Actions(
            enabled: true, vehicle: vehicle, endpoint: endpoint, prompt: prompt, share: share,
            at: Date().timeIntervalSince(begin), done: done)
        return JSON.data(of: actions)
    }

    /// The state that a display holds, and what it has received. If places are hidden, what it holds is not told.
    private func describe(
        _ speaker: Speaker, _ configuration: ConnectedConfiguration, _ endpoint: inout Answer.OwnEndpoint,
        since begin: Date
    ) {
        endpoint.configuration = configuration.name
        if !self.settings.isRedacted { endpoint.held = JSONPart(ClusterJSON.object(speaker.held)) }
        endpoint.received = speaker.received.map {
            Answer.Received(message: $0.message, at: $0.at.timeIntervalSince(begin))
        }
    }

    /// A place, without a centre if it is hidden: the page would show one.
    private func place(_ waypoint: Waypoint) -> JSONPart {
        let hidden: [String: Any] = ["nameVariants": ["a hidden place"]]
        return JSONPart(self.settings.isRedacted ? hidden : ModelJSON.waypoint(waypoint))
    }

    // MARK: Actions

    package static let names = [
        "waypoint", "destination", "selectPreview", "startTrip", "withdraw", "cancel", "allow", "routeSource",
        "answerPrompt",
        "answerShare",
        "settings", "wantDestination", "zoom", "alert", "connect", "disconnect",
    ]

    private static let fields = [
        "vehicle", "action", "waypoint", "segment", "destination", "requestID", "reason", "routeSource",
        "accepted", "outcome", "shareID", "compass", "speedLimit", "contentStyle", "ready",
        "limitedUserInterfaces",
        "zoomDirection", "trip", "alertID", "response", "actionID", "profile", "profileName", "tripID",
        "routeChoice",
    ]

    /// Does something for a vehicle.
    ///
    /// - Returns: The id of the action; its outcome comes with ``object(_:since:)``.
    /// - Throws: Why not, with the field.
    package func act(_ body: Data) async throws(InspectorError) -> String {
        let fields = try JSONFields(body, allowed: Self.fields)
        let vehicle = try fields.text("vehicle", max: 64)
        let name = try fields.word("action", of: Self.names)
        let step = try VehicleAction(name, fields)
        try self.checkAnswered(step)
        if case .disconnect = step { return await self.disconnect(vehicle, name) }
        var configuration: ConnectedConfiguration?
        if case .connect(let wanted) = step {
            configuration = wanted
            // It connects anew, as another display.
            if wanted != nil || self.speakers[vehicle]?.configuration != nil { await self.leave(vehicle) }
        }
        let speaker = try await self.speaker(for: vehicle, configuration)
        // Others may have begun while it connected.
        try self.checkAnswered(step)
        speaker.lastUse = .now
        let id = self.newID()
        self.journal.add(self.action(id, name, step), of: vehicle)
        self.version += 1
        do throws(InspectorError) { try await self.perform(step, id, vehicle, speaker) } catch {
            self.end(id, vehicle, "refused", error.reason)
            throw error
        }
        return id
    }

    private func checkAnswered(_ step: VehicleAction) throws(InspectorError) {
        guard step.isAnswered, self.journal.answeredCount >= Self.answeredMax else { return }
        throw InspectorError(.busy, field: "action", "\(Self.answeredMax) actions are under way")
    }

    private func newID() -> String {
        self.actionCount += 1
        return "a\(self.actionCount)"
    }

    private func action(_ id: String, _ name: String, _ step: VehicleAction) -> ActionJournal.Action {
        ActionJournal.Action(id, name, step, isRedacted: self.settings.isRedacted, at: Date())
    }

    private func disconnect(_ vehicle: String, _ name: String) async -> String {
        let id = self.newID()
        guard self.speakers[vehicle] != nil else { return id }
        await self.leave(vehicle)
        self.journal.add(self.action(id, name, .disconnect), of: vehicle)
        self.end(id, vehicle, "sent")
        return id
    }

    private func end(_ id: String, _ vehicle: String, _ outcome: String, _ explanation: String = "") {
        self.journal.end(id, of: vehicle, outcome, explanation)
        self.speakers[vehicle]?.lastUse = .now
        self.version += 1
    }

    private func perform(
        _ step: VehicleAction, _ id: String, _ vehicle: String, _ speaker: Speaker
    ) async throws(InspectorError) {
        guard let endpoint = speaker.endpoint else {
            throw InspectorError(.disconnected, field: "vehicle", "the endpoint of the inspector has left")
        }
        switch step {
        case .waypoint(let waypoint, let segment):
            return self.ask(id, vehicle, endpoint) {
                await endpoint.request(.waypoint(waypoint, segment: segment), requestID: $0)
            }
        case .destination(let waypoint):
            return self.ask(id, vehicle, endpoint) {
                await endpoint.request(.destination(waypoint), requestID: $0)
            }
        case .startTrip(let trip, let route):
            return self.ask(id, vehicle, endpoint) { request in
                await endpoint.waitForPreviews(atMost: Self.previewTime)
                return await endpoint.request(
                    .startTrip(trip, routeChoice: route), requestID: request)
            }
        case .selectPreview(let trip, let route):
            await endpoint.waitForPreviews(atMost: Self.previewTime)
            await endpoint.selectPreview(trip: trip, routeChoice: route)
        case .cancel(let reason):
            Task {
                let end = await endpoint.cancelNavigation(reason)
                if await endpoint.isClosed { self.journal.endLeft(id, of: vehicle) }
                self.end(id, vehicle, "sent", "\(end)")
            }
            return
        case .withdraw(let request):
            guard self.journal.isOpen(request: request, of: vehicle) else {
                throw InspectorError(.invalid, field: "requestID", "is no open request of the inspector")
            }
            await endpoint.withdrawRequest(request)
        case .answerPrompt(let request, let isAccepted):
            guard let open = speaker.prompts.first(where: { $0.prompt.id == request }) else {
                throw InspectorError(.invalid, field: "requestID", "there is no such prompt to answer")
            }
            self.endPrompt(open.number, of: speaker, isAccepted: isAccepted)
        case .answerShare(let share, let result):
            guard let open = speaker.share, open.id == share else {
                throw InspectorError(
                    .invalid, field: "shareID", "there is no such shared destination to answer")
            }
            self.endShare(open.number, of: speaker, result)
        case .allow: await endpoint.allowNavigation()
        case .routeSource(let source): await endpoint.setRouteSource(source)
        case .settings(let settings): await endpoint.update(settings)
        case .wantDestination(let trip): await endpoint.wantDestination(ofTrip: trip)
        case .zoom(let direction): await endpoint.zoom(direction)
        case .alert(let alert, let action): await endpoint.respondToAlert(alert, action: action)
        case .connect, .disconnect: break
        }
        self.end(id, vehicle, "sent")
    }

    private func ask(
        _ id: String, _ vehicle: String, _ endpoint: VehicleEndpoint,
        _ body: @escaping @Sendable (String) async -> RequestEnding
    ) {
        let requestID = "\(self.settings.endpoint)-\(UInt32.random(in: 0 ... .max))"
        self.journal.name(id, of: vehicle, request: requestID)
        Task {
            let ending = await body(requestID)
            if ending.result == .gone, await endpoint.isClosed { self.journal.endLeft(id, of: vehicle) }
            self.end(id, vehicle, "\(ending.result)", ending.explanation)
        }
    }

    // MARK: Endpoints

    private func speaker(
        for vehicle: String, _ configuration: ConnectedConfiguration?
    ) async throws(InspectorError) -> Speaker {
        if let speaker = self.speakers[vehicle] { return speaker }
        guard self.connecting[vehicle] == nil, !self.leaving.contains(vehicle) else {
            let what = self.leaving.contains(vehicle) ? "leaving" : "connecting"
            throw InspectorError(.busy, field: "vehicle", "the endpoint of the inspector is \(what)")
        }
        guard self.speakers.count + self.connecting.count + self.leaving.count < Self.speakersMax else {
            throw InspectorError(.busy, field: "vehicle", "speaks for \(Self.speakersMax) vehicles already")
        }
        let speaker = Speaker(configuration)
        self.connecting[vehicle] = speaker
        do throws(ClientError) {
            let endpoint = try await VehicleEndpoint.connect(
                to: self.settings.address, self.configuration(for: vehicle, configuration?.profile))
            speaker.endpoint = endpoint
            self.connecting[vehicle] = nil
            self.speakers[vehicle] = speaker
            self.failures[vehicle] = nil
            self.version += 1
            Task { await self.leaveLater(vehicle, speaker) }
            Task { await self.watch(vehicle, speaker, endpoint) }
            if configuration != nil { Task { await self.read(speaker, endpoint) } }
            return speaker
        } catch {
            self.connecting[vehicle] = nil
            self.endAll(of: speaker)
            self.remember(error, of: vehicle)
            if case .invalid(let reason) = error { throw InspectorError(.invalid, field: "vehicle", reason) }
            throw InspectorError(
                .disconnected, field: "vehicle", "the gateway does not let the inspector speak: \(error)")
        }
    }

    private func configuration(
        for vehicle: String, _ profile: ClusterProfile?
    ) -> VehicleEndpoint.Configuration {
        var configuration = VehicleEndpoint.Configuration(vehicle: vehicle, endpoint: self.settings.endpoint)
        configuration.displayName = "waymark inspect"
        configuration.isGuidanceWanted = false
        configuration.credential = self.settings.credential
        configuration.reconnection.refusalDelay = nil
        if let profile {
            (configuration.withoutFeatures, configuration.limits) = (profile.without, profile.limits)
            configuration.receiveFrameBytesMax = profile.receiveFrameBytesMax
            (configuration.distanceUnits, configuration.locale) = (profile.distanceUnits, profile.locale)
            configuration.extensions = profile.extensions
        }
        configuration.onPrompt = { prompt in await self.prompted(vehicle, prompt) }
        configuration.onShare = { shared in await self.offered(vehicle, shared) }
        return configuration
    }

    private func remember(_ error: ClientError, of vehicle: String) {
        if self.failures[vehicle] == nil, self.failures.count >= Self.failuresMax,
            let other = self.failures.keys.first
        {
            self.failures[other] = nil
        }
        self.failures[vehicle] = "\(error)"
        self.version += 1
    }

    /// Leaves when the gateway has ended the connection for good.
    private func watch(_ vehicle: String, _ speaker: Speaker, _ endpoint: VehicleEndpoint) async {
        for await state in await endpoint.connectionStates {
            guard case .closed(let error) = state else { continue }
            guard self.speakers[vehicle] === speaker else { return }
            self.remember(error, of: vehicle)
            return await self.leave(vehicle)
        }
    }

    /// Keeps what a display receives.
    private func read(_ speaker: Speaker, _ endpoint: VehicleEndpoint) async {
        let updates = await endpoint.updates
        await endpoint.setReady(true)
        for await update in updates {
            speaker.held = update.state
            speaker.received = speaker.received.suffix(Self.receivedMax - 1) + [(update.name, Date())]
            self.version += 1
        }
    }

    private func leaveLater(_ vehicle: String, _ speaker: Speaker) async {
        while self.speakers[vehicle] === speaker {
            let time = speaker.configuration == nil ? self.settings.idleTime : self.settings.displayTime
            let rest = speaker.lastUse + time - .now
            let isBusy = self.journal.isBusy(vehicle) || !speaker.prompts.isEmpty || speaker.share != nil
            if rest <= .zero, !isBusy { return await self.leave(vehicle) }
            let again = max(rest, min(self.settings.idleTime, .seconds(1)))
            do { try await Task.sleep(for: again) } catch { return }
        }
    }

    private func leave(_ vehicle: String) async {
        guard let speaker = self.speakers.removeValue(forKey: vehicle) else { return }
        self.leaving.insert(vehicle)
        self.journal.endpointLeaves(vehicle)
        self.version += 1
        // First: what was not answered is not answered by leaving.
        await speaker.endpoint?.close()
        self.leaving.remove(vehicle)
        self.endAll(of: speaker)
    }

    /// All endpoints leave.
    package func close() async {
        for vehicle in self.speakers.keys { await self.leave(vehicle) }
    }

    // MARK: Prompts and shared destinations

    private func speaks(for vehicle: String) -> Speaker? {
        self.speakers[vehicle] ?? self.connecting[vehicle]
    }

    /// Runs in a task that is cancelled when the prompt is over: what it returns is not sent then.
    private func prompted(_ vehicle: String, _ prompt: WaypointPrompt) async -> Bool {
        guard let speaker = self.speaks(for: vehicle), speaker.prompts.count < Self.promptsMax else {
            // Another endpoint may answer this one.
            await Self.waitForCancellation()
            return false
        }
        self.promptCount += 1
        let (number, since) = (self.promptCount, Date())
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                guard !Task.isCancelled else { return answer.resume(returning: false) }
                // One with the same id is over: its end is still to come.
                for older in speaker.prompts where older.prompt.id == prompt.id {
                    self.endPrompt(older.number, of: speaker, isAccepted: false)
                }
                speaker.prompts.append(
                    OpenPrompt(number: number, prompt: prompt, since: since, answer: answer))
                self.version += 1
            }
        } onCancel: {
            Task { await self.forgetPrompt(vehicle, number) }
        }
    }

    private static func waitForCancellation() async {
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        end.finish()
    }

    /// It was answered elsewhere, or is over.
    private func forgetPrompt(_ vehicle: String, _ number: Int) {
        guard let speaker = self.speaks(for: vehicle) else { return }
        self.endPrompt(number, of: speaker, isAccepted: false)
    }

    private func endPrompt(_ number: Int, of speaker: Speaker, isAccepted: Bool) {
        guard let index = speaker.prompts.firstIndex(where: { $0.number == number }) else { return }
        speaker.prompts.remove(at: index).answer.resume(returning: isAccepted)
        self.version += 1
    }

    private func offered(_ vehicle: String, _ shared: SharedDestination) async -> RequestResult? {
        guard let speaker = self.speaks(for: vehicle) else { return nil }
        // A newer share takes the place of an older one, which is for others to answer.
        if let older = speaker.share { self.endShare(older.number, of: speaker, nil) }
        self.shareCount += 1
        let (number, time) = (self.shareCount, self.settings.shareTime)
        let timer = Task {
            do { try await Task.sleep(for: time) } catch { return }
            self.endShare(number, of: speaker, nil)
        }
        return await withCheckedContinuation { answer in
            speaker.share = OpenShare(
                number: number, shared: shared, deadline: Date().addingTimeInterval(time / .seconds(1)),
                answer: answer, timer: timer)
            self.version += 1
        }
    }

    /// A vehicle's share is over: an endpoint has answered it, or the gateway does not wait any more.
    package func shareEnded(_ share: LiveFeed.EndedShare) {
        guard let speaker = self.speaks(for: share.vehicle), let open = speaker.share,
            open.shared.id == share.id, open.shared.session == share.session
        else { return }
        self.endShare(open.number, of: speaker, nil)
    }

    private func endShare(_ number: Int, of speaker: Speaker, _ result: RequestResult?) {
        guard let share = speaker.share, share.number == number else { return }
        speaker.share = nil
        share.timer.cancel()
        share.answer.resume(returning: result)
        self.version += 1
    }

    /// Nothing was answered.
    private func endAll(of speaker: Speaker) {
        for open in speaker.prompts { self.endPrompt(open.number, of: speaker, isAccepted: false) }
        if let share = speaker.share { self.endShare(share.number, of: speaker, nil) }
    }
}

extension VehicleEndpoint {
    /// Waits until the endpoint holds trips to choose from.
    fileprivate func waitForPreviews(atMost limit: Duration) async {
        let states = self.states
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await state in states where !state.previews.isEmpty { break } }
            group.addTask { do { try await Task.sleep(for: limit) } catch { /* The trips came first. */  } }
            await group.next()
            group.cancelAll()
        }
    }

    /// The connection has ended for good.
    fileprivate var isClosed: Bool {
        get async {
            for await state in self.connectionStates {
                if case .closed = state { return true }
                return false
            }
            return true
        }
    }
}

extension Answer.Action {
    /// `begin`: where the page's seconds begin.
    fileprivate init(_ action: ActionJournal.Action, since begin: Date) {
        self.init(
            id: action.id, action: action.name, text: action.text,
            at: action.begin.timeIntervalSince(begin), state: action.outcome == nil ? "underWay" : "ended",
            outcome: action.outcome, explanation: action.explanation.isEmpty ? nil : action.explanation,
            requestID: action.requestID.isEmpty ? nil : action.requestID)
    }
}
