internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol

/// The simulated cluster of `waymark cluster`: shows what it holds, answers what it is asked, does what its keys say.
actor ClusterApp {
    /// How it shows what it holds.
    enum Output: Sendable { case screen, lines, json }
    /// Who answers when the vehicle's user is asked.
    enum Prompts: String, Sendable, CaseIterable { case yes, no, ask }
    /// When the cluster has seen enough.
    enum Until: String, Sendable, CaseIterable { case finished, cancelled, ended }

    /// A question to the user, until it is answered or over.
    private struct Question {
        let text: String
        let answer: CheckedContinuation<Bool, Never>
    }

    /// A line that is being typed.
    private struct Entry {
        enum Purpose { case waypoint, destination }
        let purpose: Purpose
        var text = ""
    }

    private static let help =
        "w stop on the way  d drive to  c cancel  o own navigation  a allow  r route source  t light/dark  +/- zoom  x/1/2 alert  q quit"

    private let title: String
    private let output: Output
    private let prompts: Prompts
    private let until: Until?
    private var endpoint: VehicleEndpoint?
    private var state = VehicleState()
    private var connection = "connecting"
    private var lastLine = ""
    private var status = ""
    private var question: Question?
    private var entry: Entry?
    private var routeSource = RouteSource.inactive
    private var contentStyle = ContentStyle.light
    private let end: AsyncStream<ClientError?>.Continuation
    /// How it ended: the first element; nil for as it should.
    let ends: AsyncStream<ClientError?>
    private(set) var isUntilReached = false

    init(title: String, output: Output, prompts: Prompts, until: Until?) {
        self.title = title
        self.output = output
        self.prompts = prompts
        self.until = until
        (self.ends, self.end) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func attach(_ endpoint: VehicleEndpoint) { self.endpoint = endpoint }

    /// The cluster ends.
    func finish(_ error: ClientError? = nil) {
        self.answer(false)
        self.end.yield(error)
    }

    // MARK: What comes

    func take(_ state: ConnectionState) {
        switch state {
        case .connecting: self.connection = "connecting"
        case .connected(let resumed): self.connection = resumed ? "connected again" : "connected"
        case .closed(let error): self.connection = "closed: \(error)"
        }
        switch self.output {
        case .json: Terminal.line(ClusterJSON.connection(state))
        case .lines: Terminal.note(self.connection)
        case .screen: self.draw()
        }
        if case .closed(let error) = state { self.finish(error) }
    }

    func take(_ update: VehicleUpdate) {
        let before = self.state
        self.state = update.state
        if case .promptOver = update.message { self.answer(false) }
        switch self.output {
        case .json:
            Terminal.line(ClusterJSON.message(update))
            if update.state != before { Terminal.line(ClusterJSON.state(update.state)) }
        case .lines:
            let line = ClusterScreen.summary(update.state)
            if line != self.lastLine { Terminal.line(Terminal.printable(line)) }
            self.lastLine = line
        case .screen: self.draw()
        }
        if let until, Self.isReached(until, update.state) {
            self.isUntilReached = true
            self.finish()
        }
    }

    private static func isReached(_ until: Until, _ state: VehicleState) -> Bool {
        guard case .ended(let reason) = state.phase else { return false }
        let isFinished = "\(reason)" == "finished"
        return switch until {
        case .finished: isFinished
        case .cancelled: !isFinished
        case .ended: true
        }
    }

    // MARK: Questions

    func ask(_ prompt: WaypointPrompt) async -> Bool {
        let name = prompt.waypoint.nameVariants.first ?? "a new stop"
        return await self.ask("stop at \(name)? then \(ClusterScreen.distance(prompt.travelEstimates)) to go")
    }

    func ask(_ destination: Waypoint) async -> Bool {
        await self.ask("take over the destination \(destination.nameVariants.first ?? "")?")
    }

    private func ask(_ text: String) async -> Bool {
        switch self.prompts {
        case .yes: return true
        case .no: return false
        case .ask:
            self.answer(false)
            return await withCheckedContinuation { continuation in
                self.question = Question(text: text, answer: continuation)
                if self.output == .screen { self.draw() } else { Terminal.note("\(text) [y/n]") }
            }
        }
    }

    private func answer(_ isAccepted: Bool) {
        self.question?.answer.resume(returning: isAccepted)
        self.question = nil
    }

    // MARK: Keys

    func press(_ key: Keyboard.Key) async {
        if self.entry != nil { self.type(key) } else { await self.command(key) }
        self.draw()
    }

    private func command(_ key: Keyboard.Key) async {
        guard let endpoint = self.endpoint, case .character(let character) = key else { return }
        switch character {
        case "y": self.answer(true)
        case "n": self.answer(false)
        case "w": self.entry = Entry(purpose: .waypoint)
        case "d": self.entry = Entry(purpose: .destination)
        case "c": self.cancel(endpoint, .userStopped)
        case "o": self.cancel(endpoint, .ownNavigationStarted)
        case "a":
            await endpoint.allowNavigation()
            self.status = "navigation is allowed"
        case "r": await self.nextRouteSource(endpoint)
        case "t":
            self.contentStyle = self.contentStyle == .light ? .dark : .light
            await endpoint.setContentStyle(self.contentStyle)
            self.status = "content style: \(self.contentStyle.name)"
        case "+": await endpoint.zoom(.in)
        case "-": await endpoint.zoom(.out)
        case "x", "1", "2":
            guard let alert = self.state.alert else { return }
            await endpoint.respondToAlert(alert.id, action: UInt32(String(character)) ?? 0)
        case "q": self.finish()
        default: break  // Not a key of this cluster.
        }
    }

    private func cancel(_ endpoint: VehicleEndpoint, _ reason: CancellationReason) {
        self.status = "cancelling"
        Task { self.show("cancelled: \(await endpoint.cancelNavigation(reason))") }
    }

    private func nextRouteSource(_ endpoint: VehicleEndpoint) async {
        let known = RouteSource.allKnown
        let index = known.firstIndex(of: self.routeSource) ?? 0
        self.routeSource = known[(index + 1) % known.count]
        await endpoint.setRouteSource(self.routeSource)
        self.status = "route source: \(self.routeSource.name)"
    }

    /// A place is being typed: `LAT,LON` and, if wanted, a name.
    private func type(_ key: Keyboard.Key) {
        switch key {
        case .character(let character): self.entry?.text.append(character)
        case .backspace: if self.entry?.text.isEmpty == false { self.entry?.text.removeLast() }
        case .escape: self.entry = nil
        case .enter:
            guard let entry = self.entry else { return }
            self.entry = nil
            self.request(entry)
        }
    }

    private func request(_ entry: Entry) {
        let parts = entry.text.split(separator: " ", maxSplits: 1).map(String.init)
        guard let endpoint = self.endpoint, let first = parts.first else { return }
        let center: Coordinate
        do { center = try coordinate(first) } catch {
            self.status = "\(error)"
            return
        }
        let place = Waypoint(center: center, nameVariants: Array(parts.dropFirst()))
        self.status = "asking"
        Task {
            let result =
                switch entry.purpose {
                case .waypoint: await endpoint.requestWaypoint(place)
                case .destination: await endpoint.requestDestination(place)
                }
            self.show("\(entry.text): \(result)")
        }
    }

    private func show(_ status: String) {
        self.status = status
        self.draw()
    }

    // MARK: The screen

    private func draw() {
        guard self.output == .screen else { return }
        var lines = ClusterScreen.lines(self.state, title: "\(self.title)   \(self.connection)")
        if let question { lines.append("  \(question.text)  y/n") }
        if let entry {
            lines.append(
                "  \(entry.purpose == .waypoint ? "stop at" : "drive to") LAT,LON NAME: \(entry.text)▏")
        }
        Terminal.draw(lines + ["  \(self.status)", Self.help])
    }
}
