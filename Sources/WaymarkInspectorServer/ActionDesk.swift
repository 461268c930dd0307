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

    private final class Speaker {
        let endpoint: VehicleEndpoint
        var actions: [Action] = []
        var prompt: (prompt: WaypointPrompt, since: Date)?
        var share: (id: String, destination: Waypoint)?
        var promptAnswer: CheckedContinuation<Bool, Never>?
        var shareAnswer: CheckedContinuation<RequestResult, Never>?
        var lastUse = ContinuousClock.now

        init(_ endpoint: VehicleEndpoint) { self.endpoint = endpoint }
    }

    /// At one time, of all vehicles.
    private static let underWayMax = 8
    private static let speakersMax = 8
    /// Kept of each vehicle.
    private static let doneMax = 50

    private let settings: Settings
    private var speakers: [String: Speaker] = [:]
    private var connecting: Set<String> = []
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
            if let (prompt, since) = speaker.prompt {
                object["prompt"] =
                    [
                        "requestID": prompt.id, "waypoint": ModelJSON.waypoint(prompt.waypoint),
                        "travelEstimates": ModelJSON.estimates(prompt.travelEstimates),
                        "deadline": since.timeIntervalSince(begin) + prompt.timeout / .seconds(1),
                    ] as [String: Any]
            }
            if let share = speaker.share {
                object["share"] =
                    ["shareID": share.id, "destination": ModelJSON.waypoint(share.destination)]
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
        object["endpoint"] = endpoint
        object["done"] = done
        return JSON.data(object)
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
        if speaker.actions.count > Self.doneMax { speaker.actions.removeFirst() }
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
        let endpoint = speaker.endpoint
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
            guard speaker.prompt?.prompt.id == request, let answer = speaker.promptAnswer else {
                throw InspectorError(.invalid, field: "requestID", "there is no such prompt to answer")
            }
            (speaker.prompt, speaker.promptAnswer) = (nil, nil)
            answer.resume(returning: isAccepted)
        case .answerShare(let share, let result):
            guard speaker.share?.id == share, let answer = speaker.shareAnswer else {
                throw InspectorError(
                    .invalid, field: "shareID", "there is no such shared destination to answer")
            }
            (speaker.share, speaker.shareAnswer) = (nil, nil)
            answer.resume(returning: result)
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
        guard self.speakers.count < Self.speakersMax else {
            throw InspectorError(.busy, field: "vehicle", "speaks for \(Self.speakersMax) vehicles already")
        }
        guard self.connecting.insert(vehicle).inserted else {
            throw InspectorError(.busy, field: "vehicle", "the endpoint of the inspector is connecting")
        }
        defer { self.connecting.remove(vehicle) }
        var configuration = VehicleEndpoint.Configuration(vehicle: vehicle, endpoint: self.settings.endpoint)
        configuration.displayName = "waymark inspect"
        configuration.isGuidanceWanted = false
        configuration.credential = self.settings.credential
        configuration.onPrompt = { prompt in await self.prompted(vehicle, prompt) }
        configuration.onShare = { destination in await self.offered(vehicle, destination) }
        do throws(ClientError) {
            let endpoint = try await VehicleEndpoint.connect(to: self.settings.address, configuration)
            let speaker = Speaker(endpoint)
            self.speakers[vehicle] = speaker
            self.failures[vehicle] = nil
            self.version += 1
            Task { await self.leaveLater(vehicle, speaker) }
            return speaker
        } catch {
            self.failures[vehicle] = "\(error)"
            self.version += 1
            if case .invalid(let reason) = error { throw InspectorError(.invalid, field: "vehicle", reason) }
            throw InspectorError(
                .disconnected, field: "vehicle", "the gateway does not let the inspector speak: \(error)")
        }
    }

    private func prompted(_ vehicle: String, _ prompt: WaypointPrompt) async -> Bool {
        guard let speaker = self.speakers[vehicle], speaker.promptAnswer == nil else {
            // Another one is shown; another endpoint may answer this one.
            do { try await Task.sleep(for: prompt.timeout) } catch { return false }
            return false
        }
        speaker.prompt = (prompt, Date())
        self.version += 1
        let id = prompt.id
        return await withTaskCancellationHandler {
            await withCheckedContinuation { speaker.promptAnswer = $0 }
        } onCancel: {
            Task { await self.forgetPrompt(vehicle, id) }
        }
    }

    /// It was answered elsewhere, or is over.
    private func forgetPrompt(_ vehicle: String, _ id: String) {
        guard let speaker = self.speakers[vehicle], speaker.prompt?.prompt.id == id else { return }
        speaker.promptAnswer?.resume(returning: false)
        (speaker.prompt, speaker.promptAnswer) = (nil, nil)
        self.version += 1
    }

    private func offered(_ vehicle: String, _ destination: Waypoint) async -> RequestResult {
        guard let speaker = self.speakers[vehicle] else { return .gone }
        // A newer share takes the place of an older one.
        speaker.shareAnswer?.resume(returning: .gone)
        self.shareCount += 1
        speaker.share = ("share-\(self.shareCount)", destination)
        self.version += 1
        return await withCheckedContinuation { speaker.shareAnswer = $0 }
    }

    private func leaveLater(_ vehicle: String, _ speaker: Speaker) async {
        while self.speakers[vehicle] === speaker {
            let rest = speaker.lastUse + self.settings.idleTime - .now
            let isBusy = speaker.actions.contains { $0.outcome == nil } || speaker.prompt != nil
            if rest <= .zero, !isBusy { return await self.leave(vehicle) }
            do { try await Task.sleep(for: max(rest, .seconds(1))) } catch { return }
        }
    }

    private func leave(_ vehicle: String) async {
        guard let speaker = self.speakers.removeValue(forKey: vehicle) else { return }
        speaker.promptAnswer?.resume(returning: false)
        speaker.shareAnswer?.resume(returning: .gone)
        (speaker.promptAnswer, speaker.shareAnswer) = (nil, nil)
        self.version += 1
        await speaker.endpoint.close()
    }

    /// All endpoints leave.
    package func close() async {
        for vehicle in self.speakers.keys { await self.leave(vehicle) }
    }
}
