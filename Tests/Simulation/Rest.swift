internal import ExpectedState
internal import GatewayInMemory
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

// The end of a run: all peers reconnect, everything is delivered and read, all deadlines pass. Then nothing may be missing.
extension SimulatedNetwork {
    mutating func rest() {
        self.isAtRest = true
        for id in self.connectionIDs {
            self.connections[id]?.isStalled = false
            self.atGateway { host, _ in host.setSocketBytes(.max, of: id) }
            self.pump(id)
        }
        if !self.ruleSets.isEmpty { self.reload(SimulatedRules()) }
        // Hostile peers must release the ids of others first.
        for id in self.connectionIDs where self.connections[id]?.peer == nil { self.cut(id) }
        for app in self.apps.indices { self.apps[app].intentions = [] }
        for _ in 0..<8 {
            self.reconnectAll()
            self.deliverEverything()
            self.wait(seconds: 5)
        }
        self.openOnce()
        self.waitForRequests()
        // Acknowledgements come after at most two seconds.
        self.wait(seconds: 3)
        guard self.violations.isEmpty else { return }
        self.compareRequests()
        self.compareSessions()
        self.compareObservers()
        guard self.violations.isEmpty else { return }
        self.compareWithLateJoiners()
        if self.violations.isEmpty { self.checkRest() }
    }

    private mutating func reconnectAll() {
        for index in self.endpoints.indices where self.endpoints[index].connection == nil {
            self.connectEndpoint(index)
        }
        for index in self.apps.indices where self.apps[index].connection == nil { self.connectApp(index) }
        for index in self.observers.indices where self.observers[index].connection == nil {
            self.connectObserver(index)
        }
    }

    /// Advances time in steps of a second, and delivers everything after each, so that no keepalive deadline is missed.
    private mutating func wait(seconds: Int) {
        for _ in 0..<seconds {
            self.pass(.seconds(1))
            self.deliverEverything()
        }
    }

    /// Delivers and processes until nothing is in transit.
    private mutating func deliverEverything() {
        self.collect()
        var isMoving = true
        while isMoving, self.violations.isEmpty {
            isMoving = false
            for id in self.connectionIDs {
                if self.host.hasInput(id) {
                    self.step += 1
                    self.readAtGateway(id, byteCount: .max)
                    isMoving = true
                }
                if self.hasOutput(id) {
                    self.step += 1
                    self.readAtPeer(id, byteCount: .max)
                    isMoving = true
                }
                self.collect()
            }
            self.step += 1
            if self.host.isBusy() { isMoving = true }
            self.endTick()
            self.runLoops()
            for id in self.connectionIDs { self.pump(id) }
            self.collect()
        }
    }

    /// Clients without a session request one, and every client with a session publishes until its vehicles have its drive.
    private mutating func openOnce() {
        for index in self.apps.indices where self.apps[index].session == nil {
            guard let connection = self.apps[index].connection else { continue }
            self.send(self.apps[index].open(), from: connection)
            self.deliverEverything()
        }
        for index in self.apps.indices {
            while self.apps[index].isBehind {
                self.publish(index)
                self.deliverEverything()
                guard self.violations.isEmpty else { return }
            }
        }
        self.deliverEverything()
    }

    /// Requests without a known outcome are sent again. Their deadlines guarantee an outcome.
    private mutating func waitForRequests() {
        for _ in 0..<16 {
            for index in self.endpoints.indices {
                guard let connection = self.endpoints[index].connection else { continue }
                for id in self.endpoints[index].unsentRequests { self.resend(id, index, connection) }
            }
            self.deliverEverything()
            let isOpen =
                self.endpoints.contains { !$0.openRequests.isEmpty }
                || self.host.gateway.gateway.census.requests > 0
            guard isOpen || self.apps.contains(where: \.hasOpenShares) else { return }
            for index in self.apps.indices { self.apps[index].intentions = [] }
            self.wait(seconds: 10)
        }
    }

    // MARK: Checks

    private mutating func compareRequests() {
        if self.host.gateway.gateway.census.requests != 0 {
            self.report(.oneOutcome, "the gateway never ends a request")
        }
        for endpoint in self.endpoints {
            for id in endpoint.openRequests {
                self.report(.oneOutcome, "\(endpoint.path.vehicle) never gets the outcome of \(id)")
            }
        }
        for app in self.apps {
            if app.hasOpenShares { self.report(.oneOutcome, "\(app.id) never gets the outcome of a share") }
            for refusal in app.awaited where app.session != nil {
                self.report(.rejectionChangesNothing, "\(app.id) never gets the error \(refusal)")
            }
            if let published = app.sent.kept.last, app.session != nil {
                self.report(
                    .acknowledgedStays, "\(app.id) never gets the Acknowledgement of \(published.sequence)")
            }
        }
    }

    private mutating func compareSessions() {
        for index in self.apps.indices {
            let app = self.apps[index]
            if app.session == nil, app.opening != nil || app.reasonForNoSession == nil {
                self.report(self.lossPromise, "\(app.id) has no session, and got no reason")
            }
        }
        for endpoint in self.endpoints {
            let name = "\(endpoint.path.vehicle)/\(endpoint.path.endpoint)"
            if !endpoint.isWelcome { self.report(.boundedMemory, "\(name) was not admitted") }
            let app = self.apps.first { $0.joined.contains(endpoint.path.vehicle) }
            guard endpoint.session != .none else {
                if let app { self.report(self.lossPromise, "\(name) is not in the session of \(app.id)") }
                continue
            }
            guard let app, app.session == endpoint.session else {
                self.report(.oneSession, "\(name) is in a session that no client has")
                continue
            }
            self.compare(endpoint, app, name)
        }
    }

    private mutating func compare(_ endpoint: SimulatedEndpoint, _ app: SimulatedApp, _ name: String) {
        let fitting = endpoint.fitting
        let expected = fitting.leastOf(fitting.apply(to: app.drive))
        let differences = fitting.leastOf(endpoint.drive).differences(from: expected)
        if !differences.isEmpty {
            let text = differences.map(\.description).joined(separator: "; ")
            self.report(self.lossPromise, "\(name) differs from what \(app.id) published: \(text)")
        }
        if let log = self.logs[endpoint.session], let event = endpoint.missingEvent(of: log) {
            self.report(.publishersOrder, "\(name) never got event \(event)")
        }
    }

    /// The promise that a loss breaks: after a restart, the restart is to blame.
    private var lossPromise: Promise { self.restartCount > 0 ? .restartLosesNothing : .equalAtRest }

    /// An endpoint that joins now must get the same state as one that has been connected.
    private mutating func compareWithLateJoiners() {
        let present = self.endpoints.count
        for index in 0..<present where self.endpoints[index].isInRoom {
            let early = self.endpoints[index]
            let name = EndpointName(unchecked: "late-\(early.path.endpoint)")
            self.endpoints.append(
                SimulatedEndpoint(
                    path: EndpointPath(vehicle: early.path.vehicle, endpoint: name), wish: early.wish,
                    self.policy, isGuidanceWanted: early.isGuidanceWanted,
                    reportsIgnored: early.reportsIgnored))
            self.connectEndpoint(self.endpoints.count - 1)
        }
        self.deliverEverything()
        var late = present
        for index in 0..<present where self.endpoints[index].isInRoom {
            defer { late += 1 }
            // The late one has not said that it shows no speed limits: it has another profile, for which there may be no room.
            guard self.endpoints[late].isInRoom || !self.endpoints[index].hidesSpeedLimit else { continue }
            var fitting = ExpectedFitting()
            if self.endpoints[index].hidesSpeedLimit { fitting.features.remove(.speedLimit) }
            let differences = fitting.apply(to: self.endpoints[late].drive).differences(
                from: self.endpoints[index].drive)
            guard self.endpoints[late].session != self.endpoints[index].session || !differences.isEmpty else {
                continue
            }
            self.report(
                .equalAtRest,
                "\(self.endpoints[late].path) differs from the earlier endpoint: \(differences.map(\.description).joined(separator: "; "))"
            )
        }
    }
}
