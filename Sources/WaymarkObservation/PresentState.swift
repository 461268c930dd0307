internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

// The present state, told in parts. Each part is right when it is told: all entries before it were told, and what changes later is told
// again as an entry.
extension ObservationHub {
    /// Adds a part of the present state, of about `room` bytes, or all that a session retains.
    mutating func tellState(
        _ observation: inout Observation, _ gateway: inout Gateway, _ room: Int, into frames: inout [Frame],
        at now: Instant
    ) {
        var records = ObservedRecords()
        records.instant = now
        var room = room
        for _ in 0..<Self.recordsPerPart {
            guard room > 0, let walk = observation.walk else { break }
            switch walk {
            case .vehicles(let last):
                guard let id = gateway.vehicle(after: last) else {
                    observation.walk = .clients(after: nil)
                    break
                }
                observation.walk = .vehicles(after: id)
                guard observation.wants(id, in: gateway), let record = gateway.record(of: id) else { break }
                records.vehicles.append(record)
                for ticket in gateway.requests(of: id) {
                    guard let request = gateway.record(of: ticket) else { continue }
                    // Otherwise its end could not be told.
                    _ = self.told.note(ticket, request)
                    records.requests.append(request)
                }
                room -= 200 + 300 * record.endpoints.count
            case .clients(let last):
                guard let id = gateway.client(after: last) else {
                    observation.walk = .sessions(after: nil)
                    break
                }
                observation.walk = .clients(after: id)
                guard observation.wants(id), let record = gateway.record(of: id) else { break }
                records.clients.append(record)
                room -= 300
            case .sessions(let last):
                guard let session = gateway.session(after: last) else {
                    observation.walk = .end
                    break
                }
                observation.walk = .sessions(after: session)
                guard let record = gateway.record(of: session.id),
                    observation.wants(session.id, of: record.client)
                else { break }
                records.sessions.append(record)
                room -= 300
                let scope = Scope(client: record.client, session: session.id)
                guard observation.observe?.wantsFrames == true, observation.concerns(scope, in: gateway)
                else { break }
                // The session's record comes before its frames.
                frames.append(self.encoder.encode(Envelope(.observedRecords(records))))
                records = ObservedRecords()
                records.instant = now
                room -= self.tellRetained(
                    of: session.id, observation.hello.visibility, gateway, into: &frames)
            case .end:
                records.isLast = true
                observation.walk = nil
                observation.stateNumber = observation.number
            }
        }
        frames.append(self.encoder.encode(Envelope(.observedRecords(records))))
    }

    /// Adds all retained frames of a session, in as many messages as they need.
    ///
    /// Why all: what is published between two parts would make the second one wrong. An endpoint that joins gets as much.
    ///
    /// - Returns: How many bytes they have.
    private func tellRetained(
        of session: SessionID, _ visibility: Visibility, _ gateway: Gateway, into frames: inout [Frame]
    ) -> Int {
        let retained = gateway.retainedFrames(of: session)
        let isRedacted =
            visibility == .state || (visibility == .content && !gateway.sharesEverything(session))
        var byteCount = 0
        var next = 0
        while next < retained.count {
            var bytes: [UInt8] = []
            let isFirst = next == 0
            repeat {
                bytes += retained[next].bytes
                next += 1
            } while next < retained.count
                && bytes.count + retained[next].bytes.count <= Self.portionBytes
            byteCount += bytes.count
            var part = RetainedFrames(session, isRedacted ? Codec.redacted(bytes) : bytes)
            (part.isRedacted, part.isFirst) = (isRedacted, isFirst)
            var records = ObservedRecords()
            records.retained = [part]
            frames.append(self.encoder.encode(Envelope(.observedRecords(records))))
        }
        return byteCount
    }
}
