internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

/// A place that is being typed.
struct ClusterEntry: Sendable {
    enum Purpose: Sendable { case waypoint, destination }
    let purpose: Purpose
    var text = ""

    /// As it is shown.
    var line: String {
        "\(self.purpose == .waypoint ? "stop at" : "drive to") LAT,LON NAME (Enter, or Escape): \(self.text)"
    }
}

// What the keys of the cluster do. Every key says what it did, or why not.
extension ClusterApp {
    /// For the screen; each line fits into 80 columns.
    static let keys = [
        "w stop  d drive to  c cancel  o own navigation  a allow  r route source",
        "t light/dark  + - zoom  x dismiss alert  1 2 its actions  y n answer  q quit",
    ]
    static let watchingKeys = ["q quit    (only watching: nothing is answered, nothing can be sent)"]

    func press(_ key: Keyboard.Key) async {
        if self.entry != nil { self.type(key) } else { await self.command(key) }
        self.draw()
    }

    private func command(_ key: Keyboard.Key) async {
        guard case .character(let character) = key else { return }
        if character == "q" { return self.finish() }
        guard self.options.prompts != nil else { return self.show("only watching; q quits") }
        if character == "y" || character == "n" { return self.answerQuestion(character == "y") }
        guard self.options.output == .screen else { return self.show("here only y, n and q do something") }
        guard let endpoint = self.endpoint else { return self.show("not connected yet") }
        switch character {
        case "w": self.entry = ClusterEntry(purpose: .waypoint)
        case "d": self.entry = ClusterEntry(purpose: .destination)
        case "c": self.cancel(endpoint, .userStopped)
        case "o": self.cancel(endpoint, .ownNavigationStarted)
        case "a":
            await endpoint.allowNavigation()
            self.show("clients may guide this vehicle")
        case "r": await self.nextRouteSource(endpoint)
        case "t":
            self.contentStyle = self.contentStyle == .light ? .dark : .light
            await endpoint.setContentStyle(self.contentStyle)
            self.show("content style: \(self.contentStyle.name)")
        case "+", "-": await self.zoom(endpoint, character == "+" ? .in : .out)
        case "x", "1", "2": await self.respondToAlert(endpoint, character)
        default: self.show("\(character) is not a key of this cluster")
        }
    }

    func answerQuestion(_ isAccepted: Bool) {
        guard self.isAsking else { return self.show("there is no question to answer") }
        self.answer(isAccepted)
        self.tell("the vehicle's user says \(isAccepted ? "yes" : "no")")
    }

    private func zoom(_ endpoint: VehicleEndpoint, _ direction: ZoomDirection) async {
        guard self.state.session != 0 else { return self.show("no client to zoom its map") }
        await endpoint.zoom(direction)
        self.show("asked the client to zoom \(direction.name)")
    }

    /// `x` dismisses, `1` and `2` choose the first and the second action.
    private func respondToAlert(_ endpoint: VehicleEndpoint, _ key: Character) async {
        guard let alert = self.state.alert else { return self.show("there is no alert") }
        guard let number = key.wholeNumberValue else {
            await endpoint.respondToAlert(alert.id)
            return self.show("told the client that the alert is dismissed")
        }
        guard alert.actions.indices.contains(number - 1) else {
            return self.show("the alert has no action \(number)")
        }
        let action = alert.actions[number - 1]
        await endpoint.respondToAlert(alert.id, action: action.id)
        self.show("told the client: \(action.titleVariants.first ?? "action \(number)")")
    }

    func cancel(_ endpoint: VehicleEndpoint, _ reason: CancellationReason) {
        self.show("cancelling")
        Task {
            let end = await endpoint.cancelNavigation(reason)
            self.show("\(end)")
        }
    }

    private func nextRouteSource(_ endpoint: VehicleEndpoint) async {
        let known = RouteSource.allKnown
        let index = known.firstIndex(of: self.routeSource) ?? 0
        self.routeSource = known[(index + 1) % known.count]
        await endpoint.setRouteSource(self.routeSource)
        self.show("route source: \(self.routeSource.name)")
    }

    // MARK: Typing

    /// A place is being typed: `LAT,LON` and, if wanted, a name.
    private func type(_ key: Keyboard.Key) {
        switch key {
        case .character(let character): self.entry?.text.append(character)
        case .backspace: if self.entry?.text.isEmpty == false { self.entry?.text.removeLast() }
        case .escape: self.leaveEntry()
        case .enter:
            guard let entry = self.entry else { return }
            self.entry = nil
            self.request(entry)
        }
    }

    private func leaveEntry() {
        self.entry = nil
        self.show("nothing asked")
    }

    private func request(_ entry: ClusterEntry) {
        let parts = entry.text.split(separator: " ", maxSplits: 1).map(String.init)
        guard let endpoint = self.endpoint, let first = parts.first else { return self.leaveEntry() }
        let center: Coordinate
        do { center = try coordinate(first) } catch { return self.show("\(error)") }
        let place = Waypoint(center: center, nameVariants: Array(parts.dropFirst()))
        let what = "\(entry.purpose == .waypoint ? "a stop at" : "a drive to") \(Story.name(place))"
        self.tell("the vehicle asks for \(what)")
        self.show("")
        Task {
            let result =
                switch entry.purpose {
                case .waypoint: await endpoint.requestWaypoint(place)
                case .destination: await endpoint.requestDestination(place)
                }
            self.show("\(what): \(result.explanation)")
        }
    }
}
