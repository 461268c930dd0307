internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

// The present state, told in parts. Each part is right when it is told: all entries before it were told, and what changes later is told
// again as an entry.
extension ObservationHub {
    /// Adds a part of the present state, of about `room` bytes.
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
                let retained = gateway.retainedFrames(of: session.id)
                observation.retained = Observation.Retained(session: session.id, frames: retained)
                self.tellRetained(&observation, gateway, &room, into: &frames)
                if observation.retained != nil { return }
            case .end:
                records.isLast = true
                observation.walk = nil
                observation.stateNumber = observation.number
            }
        }
        frames.append(self.encoder.encode(Envelope(.observedRecords(records))))
    }

    /// Adds what a session retained, as far as there is room.
    mutating func tellRetained(
        _ observation: inout Observation, _ gateway: Gateway, _ room: inout Int, into frames: inout [Frame]
    ) {
        while room > 0, let part = observation.takeRetained(byteCount: Self.portionBytes, gateway) {
            var records = ObservedRecords()
            records.retained = [part]
            let frame = self.encoder.encode(Envelope(.observedRecords(records)))
            room -= frame.bytes.count
            frames.append(frame)
        }
    }
}

extension Observation {
    /// The next part, of about so many bytes; nil if there is none.
    fileprivate mutating func takeRetained(byteCount: Int, _ gateway: Gateway) -> RetainedFrames? {
        guard var retained = self.retained, retained.next < retained.frames.count else {
            self.retained = nil
            return nil
        }
        let isFirst = retained.next == 0
        var bytes: [UInt8] = []
        repeat {
            bytes += retained.frames[retained.next].bytes
            retained.next += 1
        } while retained.next < retained.frames.count
            && bytes.count + retained.frames[retained.next].bytes.count <= byteCount
        self.retained = retained.next < retained.frames.count ? retained : nil
        let visibility = self.hello.visibility
        // The trip may have opted out between two parts.
        let isRedacted =
            visibility == .state || (visibility == .content && !gateway.sharesEverything(retained.session))
        var part = RetainedFrames(retained.session, isRedacted ? Codec.redacted(bytes) : bytes)
        (part.isRedacted, part.isFirst) = (isRedacted, isFirst)
        return part
    }
}
