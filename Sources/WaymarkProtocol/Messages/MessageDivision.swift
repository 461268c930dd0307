// Messages with lists, divided for a peer that takes small frames, and joined by it.
//
// - Source: Docs/protocol.md, "Size".

extension Envelope {
    /// The same in as many envelopes as it needs for frames of at most `frameBytesMax` bytes; all but the last have MORE.
    ///
    /// A message that cannot be divided stays as it is, and so does the least part of one that can.
    package func divided(frameBytesMax: Int, encode: (Envelope) -> Frame) -> [Envelope] {
        let isTooLong = encode(self).bytes.count > frameBytesMax
        let pieces = isTooLong ? self.message.pieces(byteCount: frameBytesMax) : []
        // Pieces of bytes fill their frames.
        if case .observedFrames = self.message { return self.parts(pieces) }
        func byteCount(_ message: Message) -> Int { encode(self.with(message)).bytes.count }
        var parts: [[Message]] = []
        var partByteCount = 0
        for piece in pieces {
            let pieceByteCount = byteCount(piece)
            // The fields that each piece repeats are in a part once.
            let addedByteCount = pieceByteCount - byteCount(piece.withoutLists)
            guard let last = parts.indices.last else {
                parts.append([piece])
                partByteCount = pieceByteCount
                continue
            }
            partByteCount += addedByteCount
            if partByteCount + Self.lengthsByteCountMax > frameBytesMax {
                // They may also repeat a part of a list. So the sum is too high, and the part is looked at.
                partByteCount = Message.joined(parts[last] + [piece]).map(byteCount) ?? .max
            }
            if partByteCount <= frameBytesMax {
                parts[last].append(piece)
            } else {
                parts.append([piece])
                partByteCount = pieceByteCount
            }
        }
        return self.parts(parts.compactMap { Message.joined($0) })
    }

    /// The envelopes of the parts of its message; itself for none.
    private func parts(_ messages: [Message]) -> [Envelope] {
        guard let last = messages.last else { return [self] }
        guard messages.count > 1 else { return [self.with(last)] }
        var whole = self
        whole.isPart = true
        return messages.dropLast().map { whole.with($0, flags: .more) } + [whole.with(last)]
    }

    /// Lengths are longer in front of more bytes: by so many bytes at most.
    private static let lengthsByteCountMax = 8

    private func with(_ message: Message, flags: FrameHeader.Flags = []) -> Envelope {
        var envelope = self
        envelope.message = message
        envelope.flags.formUnion(flags)
        return envelope
    }
}

/// A message that comes in several frames, until its last one has arrived.
package struct PartialMessage: Sendable, Hashable {
    private var parts: [Message] = []
    private var session = SessionID.none
    /// The frames of the parts, in bytes.
    package private(set) var byteCount = 0

    package init() {}

    /// The most bytes of all parts: they repeat some, so they are longer than the message, which is no longer than a frame may be.
    private static let byteCountMax = 2 * Int(ProtocolConstants.frameBytes.upperBound)

    /// Adds what has arrived, in a frame of `byteCount` bytes. Messages of other types may come between the parts.
    ///
    /// - Returns: The whole message; nil if more of it follows.
    /// - Throws: ``PartialMessageError`` if the parts are too long, or not of one message.
    package mutating func add(
        _ envelope: Envelope, byteCount: Int
    ) throws(PartialMessageError) -> Envelope? {
        let hasMore = envelope.flags.contains(.more) && envelope.message.isDivisible
        let isNext = self.parts.first?.type == envelope.message.type && self.session == envelope.session
        guard hasMore || isNext else { return envelope }
        if !isNext { self = PartialMessage() }
        self.parts.append(envelope.message)
        self.session = envelope.session
        self.byteCount += byteCount
        guard self.byteCount <= Self.byteCountMax else {
            self = PartialMessage()
            throw .tooLong
        }
        guard !hasMore else { return nil }
        defer { self = PartialMessage() }
        guard let message = Message.joined(self.parts) else { throw .differentMessages }
        var whole = envelope
        whole.message = message
        return whole
    }
}

/// The reason why a message in several frames cannot be read.
package enum PartialMessageError: Error, Sendable, Hashable {
    /// Its parts are longer than those of the longest message.
    case tooLong
    /// Its parts are not of one message.
    case differentMessages
}

extension Message {
    /// Whether the gateway divides it for a peer that takes small frames.
    package var isDivisible: Bool {
        switch self {
        case .welcome, .sessionOpened, .vehicleChanged, .receiptReport, .observedRecords, .observedEvent,
            .observedFrames, .counters:
            true
        default: false
        }
    }

    /// The least parts of a message that can be divided; none of another one. Bytes are cut for frames of `byteCount` bytes.
    fileprivate func pieces(byteCount: Int) -> [Message] {
        switch self {
        case .welcome(let welcome): welcome.pieces.map(Message.welcome)
        case .sessionOpened(let opened): opened.pieces.map(Message.sessionOpened)
        case .vehicleChanged(let status): status.pieces.map(Message.vehicleChanged)
        case .receiptReport(let report): report.pieces.map(Message.receiptReport)
        case .observedRecords(let records): records.pieces(byteCount: byteCount).map(Message.observedRecords)
        case .observedEvent(let event): event.pieces.map(Message.observedEvent)
        case .observedFrames(let frames): frames.pieces(byteCount: byteCount).map(Message.observedFrames)
        case .counters(let report): report.pieces.map(Message.counters)
        default: []
        }
    }

    /// The message without its lists, which every part repeats.
    fileprivate var withoutLists: Message {
        switch self {
        case .welcome(var welcome):
            (welcome.features, welcome.extensions, welcome.sessions) = ([], [], [])
            return .welcome(welcome)
        case .sessionOpened(var opened):
            opened.vehicles = []
            return .sessionOpened(opened)
        case .vehicleChanged(var status):
            status.endpoints = []
            return .vehicleChanged(status)
        case .receiptReport(var report):
            report.endpoints = []
            return .receiptReport(report)
        case .observedRecords(let records): return .observedRecords(records.withoutLists)
        case .observedEvent(var event):
            event.vehicles = []
            return .observedEvent(event)
        case .observedFrames(var frames):
            frames.frames = []
            return .observedFrames(frames)
        case .counters(let report): return .counters(report.withoutLists)
        default: return self
        }
    }

    /// The message whose parts these are; nil if they are not of one message.
    fileprivate static func joined(_ parts: [Message]) -> Message? {
        guard parts.count > 1, let first = parts.first else { return parts.first }
        let others = parts.dropFirst()
        switch first {
        case .welcome(var whole):
            for case .welcome(let part) in others {
                whole.features += part.features
                whole.extensions += part.extensions
                whole.sessions += part.sessions
            }
            return .welcome(whole)
        case .sessionOpened(var whole):
            for case .sessionOpened(let part) in others {
                guard whole.requestID == part.requestID else { return nil }
                whole.append(part)
            }
            return .sessionOpened(whole)
        case .vehicleChanged(var whole):
            for case .vehicleChanged(let part) in others {
                guard whole.vehicle == part.vehicle else { return nil }
                whole.endpoints += part.endpoints
            }
            return .vehicleChanged(whole)
        case .receiptReport(var whole):
            for case .receiptReport(let part) in others { whole.append(part) }
            return .receiptReport(whole)
        case .observedRecords(var whole):
            for case .observedRecords(let part) in others { whole.append(part) }
            return .observedRecords(whole)
        case .observedEvent(var whole):
            for case .observedEvent(let part) in others { whole.vehicles += part.vehicles }
            return .observedEvent(whole)
        case .observedFrames(var whole):
            for case .observedFrames(let part) in others { whole.frames += part.frames }
            return .observedFrames(whole)
        case .counters(var whole):
            for case .counters(let part) in others { whole.append(part) }
            return .counters(whole)
        default: return nil
        }
    }
}

extension Array {
    /// The same in pieces of at most `count` elements; one empty piece for none.
    fileprivate func pieces(count: Int) -> [[Element]] {
        guard self.count > count else { return [self] }
        return stride(from: 0, to: self.count, by: count).map {
            Array(self[$0..<Swift.min($0 + count, self.count)])
        }
    }
}

// MARK: To clients

extension Welcome {
    fileprivate var pieces: [Welcome] {
        var other = self
        (other.features, other.extensions, other.sessions) = ([], [], [])
        var first = other
        first.features = self.features
        let extensions = self.extensions.map { name in
            var piece = other
            piece.extensions = [name]
            return piece
        }
        let sessions = self.sessions.map { session in
            var piece = other
            piece.sessions = [session]
            return piece
        }
        return [first] + extensions + sessions
    }
}

extension VehicleStatus {
    fileprivate var pieces: [VehicleStatus] {
        guard self.endpoints.count > 1 else { return [self] }
        return self.endpoints.map {
            VehicleStatus(vehicle: self.vehicle, standing: self.standing, endpoints: [$0])
        }
    }
}

extension SessionOpened {
    fileprivate var pieces: [SessionOpened] {
        self.vehicles.flatMap(\.pieces).map {
            SessionOpened(requestID: self.requestID, session: self.session, vehicles: [$0])
        }
    }

    /// The first vehicle of the part continues the last one so far if they are the same.
    fileprivate mutating func append(_ part: SessionOpened) {
        var others = part.vehicles[...]
        if let last = self.vehicles.indices.last, let first = others.first,
            self.vehicles[last].vehicle == first.vehicle
        {
            self.vehicles[last].endpoints += first.endpoints
            others = others.dropFirst()
        }
        self.vehicles += others
    }
}

extension ReceiptReport {
    fileprivate var pieces: [ReceiptReport] {
        self.endpoints.map { ReceiptReport(gatewaySequence: self.gatewaySequence, endpoints: [$0]) }
    }

    /// Adds a part. The later receipt of an endpoint counts: parts of an older report may come before it.
    fileprivate mutating func append(_ part: ReceiptReport) {
        self.gatewaySequence = part.gatewaySequence
        let paths = self.endpoints.enumerated().map {
            (EndpointPath(vehicle: $1.vehicle, endpoint: $1.endpoint), $0)
        }
        let places = Dictionary(paths) { first, _ in first }
        for receipt in part.endpoints {
            if let place = places[EndpointPath(vehicle: receipt.vehicle, endpoint: receipt.endpoint)] {
                self.endpoints[place] = receipt
            } else {
                self.endpoints.append(receipt)
            }
        }
    }
}

// MARK: To observers

extension ObservedEvent {
    fileprivate var pieces: [ObservedEvent] {
        self.vehicles.map {
            var piece = self
            piece.vehicles = [$0]
            return piece
        }
    }
}

/// The header and all fields but the bytes take less.
private let fieldsByteCountMax = 192

extension ObservedFrames {
    fileprivate func pieces(byteCount: Int) -> [ObservedFrames] {
        self.frames.pieces(count: byteCount - fieldsByteCountMax).map {
            var piece = self
            piece.frames = $0
            return piece
        }
    }
}

extension VehicleRecord {
    fileprivate var pieces: [VehicleRecord] {
        guard self.endpoints.count > 1 else { return [self] }
        return self.endpoints.map {
            var piece = self
            piece.endpoints = [$0]
            return piece
        }
    }
}

extension RetainedFrames {
    fileprivate func pieces(byteCount: Int) -> [RetainedFrames] {
        self.frames.pieces(count: byteCount - fieldsByteCountMax).enumerated().map { index, frames in
            var piece = self
            (piece.frames, piece.isFirst) = (frames, self.isFirst && index == 0)
            return piece
        }
    }
}

extension ObservedRecords {
    /// The number and the time.
    fileprivate var withoutLists: ObservedRecords {
        var base = ObservedRecords()
        (base.number, base.instant) = (self.number, self.instant)
        return base
    }

    fileprivate func pieces(byteCount: Int) -> [ObservedRecords] {
        let retained = self.retained.flatMap { $0.pieces(byteCount: byteCount) }
        var all = self.pieces(self.vehicles.flatMap(\.pieces), \.vehicles)
        all += self.pieces(self.clients, \.clients)
        all += self.pieces(self.sessions, \.sessions)
        all += self.pieces(self.requests, \.requests)
        all += self.pieces(retained, \.retained)
        all += self.pieces(self.vehiclesGone, \.vehiclesGone)
        all += self.pieces(self.clientsGone, \.clientsGone)
        all += self.pieces(self.sessionsGone, \.sessionsGone)
        all += self.pieces(self.requestsGone, \.requestsGone)
        if let last = all.indices.last { all[last].isLast = self.isLast }
        return all
    }

    private func pieces<Record>(
        _ records: [Record], _ list: WritableKeyPath<ObservedRecords, [Record]>
    ) -> [ObservedRecords] {
        records.map {
            var piece = self.withoutLists
            piece[keyPath: list] = [$0]
            return piece
        }
    }

    /// The first vehicle of the part continues the last one so far if they are the same, and so do the frames of one session.
    fileprivate mutating func append(_ part: ObservedRecords) {
        var (vehicles, retained) = (part.vehicles[...], part.retained[...])
        if let last = self.vehicles.indices.last, let first = vehicles.first,
            self.vehicles[last].vehicle == first.vehicle
        {
            self.vehicles[last].endpoints += first.endpoints
            vehicles = vehicles.dropFirst()
        }
        if let last = self.retained.indices.last, let first = retained.first, !first.isFirst,
            self.retained[last].session == first.session
        {
            self.retained[last].frames += first.frames
            retained = retained.dropFirst()
        }
        self.vehicles += vehicles
        self.retained += retained
        self.clients += part.clients
        self.sessions += part.sessions
        self.requests += part.requests
        self.vehiclesGone += part.vehiclesGone
        self.clientsGone += part.clientsGone
        self.sessionsGone += part.sessionsGone
        self.requestsGone += part.requestsGone
        self.isLast = part.isLast
    }
}

extension CounterReport {
    /// The number and the time.
    fileprivate var withoutLists: CounterReport {
        var base = CounterReport()
        (base.number, base.instant) = (self.number, self.instant)
        return base
    }

    fileprivate var pieces: [CounterReport] {
        var all = self.pieces(self.counters, \.counters)
        all += self.pieces(self.connections, \.connections)
        all += self.pieces(self.sessions, \.sessions)
        if let last = all.indices.last { all[last].isLast = self.isLast }
        return all
    }

    private func pieces<Value>(
        _ values: [Value], _ list: WritableKeyPath<CounterReport, [Value]>
    ) -> [CounterReport] {
        values.map {
            var piece = self.withoutLists
            piece[keyPath: list] = [$0]
            return piece
        }
    }

    fileprivate mutating func append(_ part: CounterReport) {
        self.counters += part.counters
        self.connections += part.connections
        self.sessions += part.sessions
        self.isLast = part.isLast
    }
}
