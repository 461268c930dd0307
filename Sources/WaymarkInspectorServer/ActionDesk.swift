package import Foundation
package import WaymarkClient
package import WaymarkInspector
internal import WaymarkJSON
internal import WaymarkModel
internal import WaymarkRig

/// Speaks for vehicles, each through an endpoint of its own that shows nothing.
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
        /// A shared destination keeps an endpoint for so long: the gateway's own limit, unless it is set otherwise there.
        package var shareTime = Duration.seconds(10)
        /// Places that the gateway tells are not shown.
        package var isRedacted = false

        package init() {}
    }

    private struct Action {
        let id: String
        let name: String
        let text: String
        let begin: Date
        var outcome: String?
        var explanation = ""
        var requestID = ""
    }

    private struct OpenPrompt {
        let prompt: WaypointPrompt
        let since: Date
        let answer: CheckedContinuation<Bool, Never>
    }

    private struct OpenShare {
        let id: String
        let destination: Waypoint
        let since: ContinuousClock.Instant
        /// nil: the inspector does not answer.
        let answer: CheckedContinuation<RequestResult?, Never>
    }

    private final class Speaker {
        /// nil while it connects.
        var endpoint: VehicleEndpoint?
        var actions: [Action] = []
        /// The first one is shown.
        var prompts: [OpenPrompt] = []
        var share: OpenShare?
        var lastUse = ContinuousClock.now
    }

    /// At one time, of all vehicles.
    private static let underWayMax = 8
    private static let speakersMax = 8
    /// Kept of each vehicle.
    private static let doneMax = 50
    private static let promptsMax = 16
    private static let failuresMax = 64

    private let settings: Settings
    private var speakers: [String: Speaker] = [:]
    /// The gateway may ask something before it is known that the endpoint is connected.
    private var connecting: [String: Speaker] = [:]
    private var leaving: Set<String> = []
    private var failures: [String: String] = [:]
    private var actionCount = 0
    private var shareCount = 0
    /// Rises with each change.
    package private(set) var version: UInt64 = 0

    package init(_ settings: Settings) { self.settings = settings }

    // MARK: What is known

    /// As the page gets it. `begin`: where the page's seconds begin.
    package func object(_ vehicle: String, since begin: Date) -> Data {
        var object: [String: Any] = ["enabled": true, "vehicle": vehicle]
        var endpoint: [String: Any] = ["endpoint": self.settings.endpoint, "state": "absent"]
        var done: [[String: Any]] = []
        if let speaker = self.speakers[vehicle] {
            endpoint["state"] = "connected"
            if let first = speaker.prompts.first {
                let (prompt, since) = (first.prompt, first.since)
                object["prompt"] =
                    [
                        "requestID": prompt.id, "waypoint": self.place(prompt.waypoint),
                        "travelEstimates": ModelJSON.estimates(prompt.travelEstimates),
                        "deadline": since.timeIntervalSince(begin) + prompt.timeout / .seconds(1),
                    ] as [String: Any]
            }
            if let share = speaker.share {
                object["share"] =
                    ["shareID": share.id, "destination": self.place(share.destination)]
                    as [String: Any]
            }
            done = speaker.actions.reversed().map { action in
                var object: [String: Any] = [
                    "id": action.id, "action": action.name, "text": action.text,
                    "at": action.begin.timeIntervalSince(begin),
                    "state": action.outcome == nil ? "underWay" : "ended",
                ]
                object.set("outcome", action.outcome)
                object.set(nonEmpty: "explanation", action.explanation)
                object.set(nonEmpty: "requestID", action.requestID)
                return object
            }
        } else if let reason = self.failures[vehicle] {
            endpoint["state"] = "refused"
            endpoint["reason"] = reason
        }
        // So that the page knows which of two answers is newer.
        object["at"] = Date().timeIntervalSince(begin)
        object["endpoint"] = endpoint
        object["done"] = done
        return JSON.data(object)
    }

    private func place(_ waypoint: Waypoint) -> [String: Any] {
        let nowhere = Waypoint(center: Coordinate(latitude: 0, longitude: 0))
        return ModelJSON.waypoint(self.settings.isRedacted ? nowhere : waypoint)
    }

    // MARK: Actions

    package static let names = [
        "waypoint", "destination", "withdraw", "cancel", "allow", "routeSource", "answerPrompt",
        "answerShare",
        "settings", "zoom", "alert", "connect", "disconnect",
    ]

    private static let fields = [
        "vehicle", "action", "waypoint", "segment", "destination", "requestID", "reason", "routeSource",
        "accepted", "outcome", "shareID", "compass", "speedLimit", "contentStyle", "ready",
        "limitedUserInterfaces",
        "zoomDirection", "alertID", "response", "actionID",
    ]

    /// Does something for a vehicle.
    ///
    /// - Returns: The id of the action; its outcome comes with ``object(_:since:)``.
    /// - Throws: Why not, with the field.
    package func act(_ body: Data) async throws(InspectorError) -> String {
        let fields = try JSONFields(body, allowed: Self.fields)
        let vehicle = try fields.text("vehicle", max: 64)
        let name = try fields.word("action", of: Self.names)
        let step = try Step(name, fields)
        let underWay = self.speakers.values.reduce(0) { $0 + $1.actions.count { $0.outcome == nil } }
        guard underWay < Self.underWayMax else {
            throw InspectorError(.busy, field: "action", "\(Self.underWayMax) actions are under way")
        }
        if case .disconnect = step {
            await self.leave(vehicle)
            return "a\(self.nextNumber())"
        }
        let speaker = try await self.speaker(for: vehicle)
        speaker.lastUse = .now
        let id = "a\(self.nextNumber())"
        speaker.actions.append(Action(id: id, name: name, text: step.text, begin: Date()))
        if speaker.actions.count > Self.doneMax,
            let oldest = speaker.actions.firstIndex(where: { $0.outcome != nil })
        {
            speaker.actions.remove(at: oldest)
        }
        self.version += 1
        do throws(InspectorError) { try await self.perform(step, id, speaker) } catch {
            self.end(id, speaker, "refused", error.reason)
            throw error
        }
        return id
    }

    private func nextNumber() -> Int {
        self.actionCount += 1
        return self.actionCount
    }

    private func end(_ id: String, _ speaker: Speaker, _ outcome: String, _ explanation: String = "") {
        guard let index = speaker.actions.firstIndex(where: { $0.id == id }) else { return }
        speaker.actions[index].outcome = outcome
        speaker.actions[index].explanation = explanation
        speaker.lastUse = .now
        self.version += 1
    }

    private func perform(_ step: Step, _ id: String, _ speaker: Speaker) async throws(InspectorError) {
        guard let endpoint = speaker.endpoint else {
            throw InspectorError(.disconnected, field: "vehicle", "the endpoint of the inspector has left")
        }
        switch step {
        case .waypoint(let waypoint, let segment):
            self.ask(id, speaker) {
                await endpoint.requestWaypoint(waypoint, segment: segment, requestID: $0)
            }
            return
        case .destination(let waypoint):
            self.ask(id, speaker) { await endpoint.requestDestination(waypoint, requestID: $0) }
            return
        case .cancel(let reason):
            Task {
                let end = await endpoint.cancelNavigation(reason)
                self.end(id, speaker, "sent", "\(end)")
            }
            return
        case .withdraw(let request):
            guard speaker.actions.contains(where: { $0.requestID == request && $0.outcome == nil }) else {
                throw InspectorError(.invalid, field: "requestID", "is no open request of the inspector")
            }
            await endpoint.withdrawRequest(request)
        case .answerPrompt(let request, let isAccepted):
            guard let index = speaker.prompts.firstIndex(where: { $0.prompt.id == request }) else {
                throw InspectorError(.invalid, field: "requestID", "there is no such prompt to answer")
            }
            speaker.prompts.remove(at: index).answer.resume(returning: isAccepted)
        case .answerShare(let share, let result):
            guard let open = speaker.share, open.id == share else {
                throw InspectorError(
                    .invalid, field: "shareID", "there is no such shared destination to answer")
            }
            speaker.share = nil
            open.answer.resume(returning: result)
        case .allow: await endpoint.allowNavigation()
        case .routeSource(let source): await endpoint.setRouteSource(source)
        case .settings(let settings): await endpoint.update(settings)
        case .zoom(let direction): await endpoint.zoom(direction)
        case .alert(let alert, let action): await endpoint.respondToAlert(alert, action: action)
        case .connect, .disconnect: break
        }
        self.end(id, speaker, "sent")
    }

    private func ask(
        _ id: String, _ speaker: Speaker, _ body: @escaping @Sendable (String) async -> RequestResult
    ) {
        let requestID = "\(self.settings.endpoint)-\(UInt32.random(in: 0 ... .max))"
        if let index = speaker.actions.firstIndex(where: { $0.id == id }) {
            speaker.actions[index].requestID = requestID
        }
        Task {
            let result = await body(requestID)
            self.end(id, speaker, "\(result)", result.explanation)
        }
    }

    // MARK: Endpoints

    private func speaker(for vehicle: String) async throws(InspectorError) -> Speaker {
        if let speaker = self.speakers[vehicle] { return speaker }
        guard self.connecting[vehicle] == nil, !self.leaving.contains(vehicle) else {
            let what = self.leaving.contains(vehicle) ? "leaving" : "connecting"
            throw InspectorError(.busy, field: "vehicle", "the endpoint of the inspector is \(what)")
        }
        guard self.speakers.count + self.connecting.count + self.leaving.count < Self.speakersMax else {
            throw InspectorError(.busy, field: "vehicle", "speaks for \(Self.speakersMax) vehicles already")
        }
        let speaker = Speaker()
        self.connecting[vehicle] = speaker
        do throws(ClientError) {
            let endpoint = try await VehicleEndpoint.connect(
                to: self.settings.address, self.configuration(for: vehicle))
            speaker.endpoint = endpoint
            self.connecting[vehicle] = nil
            self.speakers[vehicle] = speaker
            self.failures[vehicle] = nil
            self.version += 1
            Task { await self.leaveLater(vehicle, speaker) }
            Task { await self.watch(vehicle, speaker, endpoint) }
            return speaker
        } catch {
            self.connecting[vehicle] = nil
            self.resume(speaker)
            self.remember(error, of: vehicle)
            if case .invalid(let reason) = error { throw InspectorError(.invalid, field: "vehicle", reason) }
            throw InspectorError(
                .disconnected, field: "vehicle", "the gateway does not let the inspector speak: \(error)")
        }
    }

    private func configuration(for vehicle: String) -> VehicleEndpoint.Configuration {
        var configuration = VehicleEndpoint.Configuration(vehicle: vehicle, endpoint: self.settings.endpoint)
        configuration.displayName = "waymark inspect"
        configuration.isGuidanceWanted = false
        configuration.credential = self.settings.credential
        configuration.onPrompt = { prompt in await self.prompted(vehicle, prompt) }
        configuration.onShare = { destination in await self.offered(vehicle, destination) }
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

    private func prompted(_ vehicle: String, _ prompt: WaypointPrompt) async -> Bool {
        guard let speaker = self.speakers[vehicle] ?? self.connecting[vehicle],
            speaker.prompts.count < Self.promptsMax
        else {
            // Another endpoint may answer this one.
            do { try await Task.sleep(for: prompt.timeout) } catch { return false }
            return false
        }
        let (id, since) = (prompt.id, Date())
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                guard !Task.isCancelled else { return answer.resume(returning: false) }
                speaker.prompts.append(OpenPrompt(prompt: prompt, since: since, answer: answer))
                self.version += 1
            }
        } onCancel: {
            Task { await self.forgetPrompt(vehicle, id) }
        }
    }

    /// It was answered elsewhere, or is over.
    private func forgetPrompt(_ vehicle: String, _ id: String) {
        guard let speaker = self.speakers[vehicle] ?? self.connecting[vehicle],
            let index = speaker.prompts.firstIndex(where: { $0.prompt.id == id })
        else { return }
        speaker.prompts.remove(at: index).answer.resume(returning: false)
        self.version += 1
    }

    private func offered(_ vehicle: String, _ destination: Waypoint) async -> RequestResult? {
        guard let speaker = self.speakers[vehicle] ?? self.connecting[vehicle] else { return nil }
        // A newer share takes the place of an older one, which is for others to answer.
        speaker.share?.answer.resume(returning: nil)
        self.shareCount += 1
        let id = "share-\(self.shareCount)"
        return await withCheckedContinuation { answer in
            speaker.share = OpenShare(id: id, destination: destination, since: .now, answer: answer)
            self.version += 1
        }
    }

    private func leaveLater(_ vehicle: String, _ speaker: Speaker) async {
        while self.speakers[vehicle] === speaker {
            let rest = speaker.lastUse + self.settings.idleTime - .now
            let hasShare = speaker.share.map { .now < $0.since + self.settings.shareTime } ?? false
            let isBusy =
                speaker.actions.contains { $0.outcome == nil } || !speaker.prompts.isEmpty || hasShare
            if rest <= .zero, !isBusy { return await self.leave(vehicle) }
            do { try await Task.sleep(for: max(rest, .seconds(1))) } catch { return }
        }
    }

    private func leave(_ vehicle: String) async {
        guard let speaker = self.speakers.removeValue(forKey: vehicle) else { return }
        self.leaving.insert(vehicle)
        self.version += 1
        // First: what was not answered is not answered by leaving.
        await speaker.endpoint?.close()
        self.leaving.remove(vehicle)
        self.resume(speaker)
    }

    /// Nothing was answered.
    private func resume(_ speaker: Speaker) {
        for open in speaker.prompts { open.answer.resume(returning: false) }
        speaker.share?.answer.resume(returning: nil)
        (speaker.prompts, speaker.share) = ([], nil)
    }

    /// All endpoints leave.
    package func close() async {
        for vehicle in self.speakers.keys { await self.leave(vehicle) }
    }
}
