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
        "w stop  d drive to  c cancel  o own route  a allow  r source  b battery  h share",
        "t light/dark  + - zoom  x dismiss alert  1 2 its actions  y n answer  q quit",
    ]
    /// The keys in place of ``keys`` while there are trips to choose from.
    static let previewKeys = [
        "1 2 3 choose a route  p next trip  s start  h share  d drive to  c cancel",
        "o own route  a allow  r source  t light/dark  + - zoom  y n answer  q quit",
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
        if self.preview != nil, "123".contains(character) {
            return await self.chooseRoute(character, endpoint)
        }
        switch character {
        case "w": self.entry = ClusterEntry(purpose: .waypoint)
        case "d": self.entry = ClusterEntry(purpose: .destination)
        case "c": self.cancel(endpoint, .userStopped)
        case "o": self.cancel(endpoint, .ownNavigationStarted)
        case "a":
            await endpoint.allowNavigation()
            self.show("clients may guide this vehicle")
        case "r": await self.nextRouteSource(endpoint)
        case "b": await self.tellFeedback(endpoint)
        case "h": await self.wantDestination(endpoint)
        case "t":
            self.contentStyle = self.contentStyle == .light ? .dark : .light
            await endpoint.setContentStyle(self.contentStyle)
            self.show("content style: \(self.contentStyle.name)")
        case "+", "-": await self.zoom(endpoint, character == "+" ? .in : .out)
        case "p": await self.chooseNextTrip(endpoint)
        case "s": self.startTrip(endpoint)
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

    /// Says that the battery lasts, with the charges that the trip plans, and the next time that it does not last to the destination.
    private func tellFeedback(_ endpoint: VehicleEndpoint) async {
        guard let trip = self.state.trip else {
            return self.show("there is no route to compare with the battery")
        }
        var stops = (trip.waypoints + [trip.destination]).map { stop in
            StopFeedback(
                arrivalBatteryPerMille: stop.charge?.arrivalBatteryPerMille, reachability: .reachable)
        }
        if self.saysBatteryLasts { stops[stops.count - 1] = StopFeedback(reachability: .unreachable) }
        self.saysBatteryLasts.toggle()
        let feedback = RouteFeedback(generation: self.state.generation, stops: stops)
        await endpoint.setRouteFeedback(feedback)
        self.show("told the client: \(Story.feedback(feedback))")
    }

    /// Asks for the destination of the trip that is driven, or before guidance of the selected preview.
    private func wantDestination(_ endpoint: VehicleEndpoint) async {
        guard self.state.session != 0 else { return self.show("no client to share a destination") }
        var trip = ""
        if self.state.trip == nil {
            guard let shown = self.state.previews.first else {
                return self.show("there is no trip whose destination could be shared")
            }
            trip = shown.id
        }
        await endpoint.wantDestination(ofTrip: trip)
        self.show("asked the client for the destination")
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
            let ending = await endpoint.request(
                entry.purpose == .waypoint ? .waypoint(place) : .destination(place))
            self.show("\(what): \(ending.explanation)")
        }
    }
}
