internal import OrderedCollections

extension Gateway {
    /// The largest amounts of memory in use. Each has a limit in ``GatewayLimits``.
    package struct Holdings: Sendable, Hashable {
        /// The most bytes that one session retains.
        package var retainedBytesMax = 0
        /// The most bytes that one session keeps for resumption, for one profile.
        package var replayBytesMax = 0
        /// The most outcomes kept for one vehicle.
        package var outcomesMax = 0
        /// The most requests open for one vehicle.
        package var openRequestsMax = 0
        /// Known peers, each with a valid token.
        package var known = 0
        /// Clients and endpoints, connected or in their grace time.
        package var peerCount = 0
        /// Vehicles, also those that sessions wait for.
        package var vehicleCount = 0
        /// Sessions, also those whose vehicles were not all told that they are over.
        package var sessionCount = 0
        /// Bytes that sessions keep.
        package var keptBytes = 0
    }

    /// The present amounts. O(sessions + vehicles).
    package var holdings: Holdings {
        var holdings = Holdings()
        for session in self.sessions.values {
            let rings = session.audiences.values.map(\.replayByteCount)
            holdings.retainedBytesMax = max(holdings.retainedBytesMax, session.retained.byteCount)
            holdings.replayBytesMax = max(
                holdings.replayBytesMax, session.replay.byteCount, rings.max() ?? 0)
        }
        for vehicle in self.vehicles.values {
            holdings.outcomesMax = max(holdings.outcomesMax, vehicle.outcomes.count)
            holdings.openRequestsMax = max(holdings.openRequestsMax, vehicle.openRequests.count)
            holdings.peerCount += vehicle.endpoints.count
        }
        holdings.peerCount += self.clients.count
        holdings.vehicleCount = self.vehicles.count
        holdings.sessionCount = self.sessions.count + self.endedSessions.count
        holdings.keptBytes = self.memory.total.retained + self.memory.total.replay
        holdings.known = self.known.count
        return holdings
    }
}
