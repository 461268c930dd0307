internal import WaymarkGateway
internal import WaymarkProtocol

/// Hashes of the records that were told last: what was touched and is the same is not told again.
///
/// Not all records are here: those that were not touched since the first observer came are not. Then a record is told once too often.
struct ToldRecords: Sendable {
    private var vehicles: [VehicleID: Int] = [:]
    private var clients: [ClientID: Int] = [:]
    private var sessions: [SessionID: Int] = [:]
    private(set) var sessionClients: [SessionID: ClientID] = [:]
    private var requests: [RequestTicket: (key: RequestKey, hash: Int)] = [:]

    /// The open requests that observers know.
    var openRequests: [RequestTicket: RequestKey] { self.requests.mapValues(\.key) }

    /// Continues with the open requests that observers of another process know.
    mutating func adopt(_ requests: [RequestTicket: RequestKey]) {
        self.requests = requests.mapValues { ($0, 0) }
    }

    /// Notes a vehicle's record; nil if it is gone.
    ///
    /// - Returns: Whether it differs.
    mutating func note(_ id: VehicleID, _ record: VehicleRecord?) -> Bool {
        let hash = record?.hashValue
        return self.vehicles.updateValue(hash, forKey: id) != hash || hash == nil
    }

    mutating func note(_ id: ClientID, _ record: ClientRecord?) -> Bool {
        let hash = record?.hashValue
        return self.clients.updateValue(hash, forKey: id) != hash || hash == nil
    }

    mutating func note(_ id: SessionID, _ record: SessionRecord?) -> Bool {
        let hash = record?.hashValue
        self.sessionClients[id] = record?.client
        return self.sessions.updateValue(hash, forKey: id) != hash || hash == nil
    }

    /// Notes a request's record; nil if it has ended.
    ///
    /// - Returns: Its key, if the record differs.
    mutating func note(_ ticket: RequestTicket, _ record: RequestRecord?) -> RequestKey? {
        guard let record else { return self.requests.removeValue(forKey: ticket)?.key }
        let hash = record.hashValue
        if self.requests[ticket]?.hash == hash { return nil }
        self.requests[ticket] = (record.key, hash)
        return record.key
    }
}

extension Dictionary {
    /// Sets or removes a value, and returns the one before.
    fileprivate mutating func updateValue(_ value: Value?, forKey key: Key) -> Value? {
        guard let value else { return self.removeValue(forKey: key) }
        return self.updateValue(value, forKey: key)
    }
}
