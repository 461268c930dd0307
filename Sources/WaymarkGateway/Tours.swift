internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

/// Something that is done for each vehicle of a session, step by step, in the order in which the vehicles came.
///
/// A vehicle that another message is about is visited first, see ``Gateway/settle(_:at:into:)``, so every message finds it as if
/// all tours had been made at once. Vehicles that come later are not visited.
struct Tour: Sendable, Hashable, Codable {
    enum Purpose: Sendable, Hashable, Codable {
        /// Adds endpoints to the session that a client has opened. The client knows the standing of vehicles up to `told`.
        case enter(told: VehicleList.Place)
        /// Tells the client the standing of vehicles after a place.
        case announce(after: VehicleList.Place)
        case suspend
        /// The client has resumed by this connection.
        case restore(ConnectionID, wasSuspended: Bool)
        /// Vehicles leave that the client may no longer guide.
        case enforce
        case refit
        case purgeShares
        case share(Identifier)
        case receipts
        case end
    }

    /// Counts the tours of its session from 1.
    let number: UInt64
    let purpose: Purpose
}

extension Gateway {
    /// Begins a tour of the vehicles of a session.
    mutating func begin(_ purpose: Tour.Purpose, of id: SessionID) {
        guard let begun = self.sessions[id]?.begin(purpose) else { return }
        self.tourCount += begun.growth
        self.queue(.tour(id, number: begun.number, after: 0))
    }

    /// Visits the vehicles after a place.
    mutating func visitNext(
        in tour: UInt64, of id: SessionID, after place: VehicleList.Place, at now: Instant,
        into actions: inout [Action]
    ) {
        var place = place
        repeat {
            guard self.isUnderWay(tour, of: id) else { return }
            guard let next = self.present(id)?.vehicles.next(after: place) else {
                return self.finish(tour, of: id, at: now, into: &actions)
            }
            place = next.place
            self.counters.work.visit()
            if self.vehicles[next.vehicle]?.session == id {
                self.settle(next.vehicle, at: now, into: &actions)
            }
        } while self.hasBudget
        self.putBack(.tour(id, number: tour, after: place))
    }

    /// Whether the tour still runs. If not, a later one has replaced it, or its session is over.
    private func isUnderWay(_ number: UInt64, of id: SessionID) -> Bool {
        self.present(id)?.tours.contains { $0.number == number } ?? false
    }

    /// A session, or one that is over and whose vehicles were not all told.
    private func present(_ id: SessionID) -> GatewaySession? {
        self.sessions[id] ?? self.endedSessions[id]
    }

    /// Makes all tours visit a vehicle that have not visited it yet, and changed rules reach it.
    mutating func settle(_ id: VehicleID, at now: Instant, into actions: inout [Action]) {
        guard self.tourCount > 0 || !self.unruledVehicles.isEmpty else { return }
        self.finishLeaving(id, at: now, into: &actions)
        let isRuledNow = self.applyRules(to: id, at: now, into: &actions)
        self.finishTours(of: id, at: now, into: &actions)
        if isRuledNow, self.isWaitingForGuidance(id) { self.offer(id, at: now, into: &actions) }
    }

    private mutating func finishTours(of id: VehicleID, at now: Instant, into actions: inout [Action]) {
        guard let session = self.vehicles[id]?.session, let tours = self.present(session)?.tours else {
            return
        }
        for tour in tours {
            guard let vehicle = self.vehicles[id], vehicle.session == session else { return }
            guard tour.number > vehicle.lastTour else { continue }
            self.vehicles[id]?.lastTour = tour.number
            self.counters.work.visit(vehicle.endpoints.count)
            self.visit(id, in: session, tour.purpose, at: now, into: &actions)
        }
    }

    private mutating func visit(
        _ id: VehicleID, in session: SessionID, _ purpose: Tour.Purpose, at now: Instant,
        into actions: inout [Action]
    ) {
        switch purpose {
        case .enter(let told): self.enter(id, session, told: told, at: now, into: &actions)
        case .announce(let told):
            if self.vehicles[id].map({ $0.place > told }) ?? false { self.announce(id, into: &actions) }
        case .suspend:
            let grace = UInt32(clamping: self.policy.limits.grace.milliseconds)
            let suspended = SessionSuspended(
                graceMilliseconds: grace,
                ageMilliseconds: GatewaySession.age(since: self.sessions[session]?.lastPublished, at: now),
                estimatesAgeMilliseconds: GatewaySession.age(
                    since: self.sessions[session]?.lastEstimated, at: now))
            self.send(.sessionSuspended(suspended), to: id, of: session, into: &actions)
        case .restore(let connection, let wasSuspended):
            self.restore(id, session, connection, wasSuspended: wasSuspended, into: &actions)
        case .enforce: self.endForbiddenGuidance(of: id, in: session, at: now, into: &actions)
        case .refit: self.refit(id, in: session, at: now, into: &actions)
        case .purgeShares:
            for (_, connection, _) in self.vehicles[id]?.connections ?? [] {
                actions.append(.purgeShares(connection, session))
            }
        case .share(let share): self.offer(share, to: id, in: session, at: now, into: &actions)
        case .receipts: self.reportReceipts(of: id, in: session, into: &actions)
        case .end: self.end(id, in: session, at: now, into: &actions)
        }
    }

    private mutating func finish(
        _ number: UInt64, of id: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        let purpose =
            self.sessions[id] == nil
            ? self.endedSessions[id]?.finish(number) : self.sessions[id]?.finish(number)
        guard let purpose else { return }
        self.tourCount -= 1
        switch purpose {
        case .restore(let connection, let wasSuspended):
            self.tellLeft(id, connection, into: &actions)
            if wasSuspended, self.sessions[id]?.isOffered == true {
                self.queue(.offers(to: id, after: nil))
            }
        case .share(let share): self.sessions[id]?.releaseShare(share)
        case .receipts: self.sendReceipts(of: id, isLast: true, into: &actions)
        case .end: self.close(id, into: &actions)
        case .enter, .announce, .suspend, .enforce, .refit, .purgeShares: break
        }
    }
}

extension GatewaySession {
    /// Begins a tour; it replaces an older one of the same purpose that changes nothing more.
    ///
    /// - Returns: Its number, and how many more tours there are now.
    fileprivate mutating func begin(_ purpose: Tour.Purpose) -> (number: UInt64, growth: Int) {
        let count = self.tours.count
        switch purpose {
        case .end: self.tours.removeAll()
        case .enforce, .refit, .receipts, .purgeShares: self.tours.removeAll { $0.purpose == purpose }
        case .enter, .announce, .suspend, .restore, .share: break
        }
        self.tourNumber += 1
        self.tours.append(Tour(number: self.tourNumber, purpose: purpose))
        return (self.tourNumber, self.tours.count - count)
    }

    fileprivate mutating func finish(_ number: UInt64) -> Tour.Purpose? {
        guard let index = self.tours.firstIndex(where: { $0.number == number }) else { return nil }
        return self.tours.remove(at: index).purpose
    }
}
