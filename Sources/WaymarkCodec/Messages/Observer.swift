internal import CProtobufC
internal import CWaymarkWire
package import WaymarkProtocol

extension ObserverHello {
    func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__ObserverHello> {
        unsafe arena.make(waymark__v1__observer_hello__init) {
            unsafe $0.pointee.observer_id = arena.text(self.observer.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ObserverHello>) {
        self.init(observer: ObserverName(unchecked: unsafe text(wire.pointee.observer_id)))
    }
}

extension Observe {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__observe__init) { wire in
            unsafe (wire.pointee.n_vehicle_ids, wire.pointee.vehicle_ids) =
                unsafe arena.texts(self.vehicles.map(\.rawValue))
            unsafe (wire.pointee.n_client_ids, wire.pointee.client_ids) =
                unsafe arena.texts(self.clients.map(\.rawValue))
            unsafe (wire.pointee.n_session_ids, wire.pointee.session_ids) =
                unsafe arena.list(self.sessions) { $0.rawValue }
            unsafe (wire.pointee.n_kinds, wire.pointee.kinds) =
                unsafe arena.list(self.kinds) { Waymark__V1__ObservedKind(rawValue: $0) }
            unsafe wire.pointee.state = self.wantsState ? 1 : 0
            unsafe wire.pointee.events = self.wantsEvents ? 1 : 0
            unsafe wire.pointee.frames = self.wantsFrames ? 1 : 0
            unsafe wire.pointee.after_number = self.afterNumber
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__Observe>) {
        self.init()
        self.vehicles = unsafe texts(wire.pointee.n_vehicle_ids, wire.pointee.vehicle_ids)
            .map(VehicleID.init(unchecked:))
        self.clients = unsafe texts(wire.pointee.n_client_ids, wire.pointee.client_ids)
            .map(ClientID.init(unchecked:))
        self.sessions = unsafe numbers(wire.pointee.n_session_ids, wire.pointee.session_ids) { SessionID($0) }
        self.kinds = unsafe numbers(wire.pointee.n_kinds, wire.pointee.kinds) { $0.rawValue }
        self.wantsState = unsafe wire.pointee.state != 0
        self.wantsEvents = unsafe wire.pointee.events != 0
        self.wantsFrames = unsafe wire.pointee.frames != 0
        self.afterNumber = unsafe wire.pointee.after_number
    }
}

extension ObservationBegin {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__observation_begin__init) { wire in
            unsafe wire.pointee.kind = .init(rawValue: self.kind.rawValue)
            unsafe wire.pointee.number = self.number
            unsafe wire.pointee.instant_microseconds = self.instant.wireMicroseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ObservationBegin>) {
        self.init(
            SnapshotBegin.Kind(rawValue: unsafe wire.pointee.kind.rawValue) ?? .full,
            after: unsafe wire.pointee.number, at: Instant(wire: unsafe wire.pointee.instant_microseconds))
    }
}

extension ObservedEvent {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__observed_event__init) { wire in
            unsafe wire.pointee.number = self.number
            unsafe wire.pointee.instant_microseconds = self.instant.wireMicroseconds
            unsafe wire.pointee.kind = .init(rawValue: self.kind)
            unsafe wire.pointee.code = self.code
            unsafe wire.pointee.reason = arena.text(self.reason)
            unsafe wire.pointee.connection_id = self.connection?.rawValue ?? 0
            unsafe (wire.pointee.n_vehicle_ids, wire.pointee.vehicle_ids) =
                unsafe arena.texts(self.vehicles.map(\.rawValue))
            unsafe wire.pointee.client_id = arena.text(self.client?.rawValue ?? "")
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.request_id = arena.text(self.request.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ObservedEvent>) {
        self.init(.admitted)
        self.number = unsafe wire.pointee.number
        self.instant = Instant(wire: unsafe wire.pointee.instant_microseconds)
        self.kind = unsafe wire.pointee.kind.rawValue
        self.code = unsafe wire.pointee.code
        self.reason = unsafe text(wire.pointee.reason)
        self.connection = ConnectionID(wire: unsafe wire.pointee.connection_id)
        self.vehicles = unsafe texts(wire.pointee.n_vehicle_ids, wire.pointee.vehicle_ids)
            .map(VehicleID.init(unchecked:))
        self.client = unsafe givenText(wire.pointee.client_id).map(ClientID.init(unchecked:))
        self.session = SessionID(unsafe wire.pointee.session_id)
        self.request = unsafe identifier(wire.pointee.request_id)
    }
}

extension ObservedFrames {
    /// Field by field: an observer of everything gets one for each batch that crosses.
    func frame(_ header: FrameHeader) -> Frame {
        var writer = FrameWriter(header, bodyByteCount: self.frames.count + 64)
        writer.number(FieldNumber.ObservedFrames.number, self.number)
        self.write(self.frames[...], to: &writer)
        return writer.frame()
    }

    /// Writes all fields but the number.
    fileprivate func write(_ frames: ArraySlice<UInt8>, to writer: inout FrameWriter) {
        typealias Field = FieldNumber.ObservedFrames
        writer.number(Field.instantMicroseconds, self.instant.wireMicroseconds)
        writer.number(Field.direction, UInt64(self.direction.rawValue))
        writer.number(Field.connectionId, self.connection?.rawValue ?? 0)
        writer.number(Field.audienceId, self.audience)
        writer.number(Field.sessionId, UInt64(self.session.rawValue))
        writer.number(Field.redacted, self.isRedacted ? 1 : 0)
        writer.number(Field.rejected, self.isRejected ? 1 : 0)
        writer.bytes(Field.frames, frames)
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ObservedFrames>) {
        let direction = Direction(rawValue: unsafe wire.pointee.direction.rawValue) ?? .out
        self.init(direction, unsafe numbers(wire.pointee.frames.len, wire.pointee.frames.data) { $0 })
        self.number = unsafe wire.pointee.number
        self.instant = Instant(wire: unsafe wire.pointee.instant_microseconds)
        self.connection = ConnectionID(wire: unsafe wire.pointee.connection_id)
        self.audience = unsafe wire.pointee.audience_id
        self.session = SessionID(unsafe wire.pointee.session_id)
        self.isRedacted = unsafe wire.pointee.redacted != 0
        self.isRejected = unsafe wire.pointee.rejected != 0
    }
}

extension ObservationGap {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__observation_gap__init) { wire in
            unsafe wire.pointee.dropped = self.dropped
            unsafe wire.pointee.next_number = self.nextNumber
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ObservationGap>) {
        self.init(dropped: unsafe wire.pointee.dropped, nextNumber: unsafe wire.pointee.next_number)
    }
}

extension ReadCounters {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__read_counters__init) { wire in
            unsafe wire.pointee.connections = self.wantsConnections ? 1 : 0
            unsafe wire.pointee.sessions = self.wantsSessions ? 1 : 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ReadCounters>) {
        self.init()
        self.wantsConnections = unsafe wire.pointee.connections != 0
        self.wantsSessions = unsafe wire.pointee.sessions != 0
    }
}

extension CounterReport {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__counters__init) { wire in
            unsafe wire.pointee.number = self.number
            unsafe wire.pointee.instant_microseconds = self.instant.wireMicroseconds
            unsafe (wire.pointee.n_counters, wire.pointee.counters) =
                unsafe arena.list(self.counters) { counter in
                    unsafe arena.make(waymark__v1__counter__init) { wire in
                        unsafe wire.pointee.name = .init(rawValue: counter.name)
                        unsafe wire.pointee.label = counter.label
                        unsafe wire.pointee.value = counter.value
                    }
                }
            unsafe (wire.pointee.n_connections, wire.pointee.connections) =
                unsafe arena.list(self.connections) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_sessions, wire.pointee.sessions) =
                unsafe arena.list(self.sessions) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.is_last = self.isLast ? 1 : 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__Counters>) {
        self.init()
        self.number = unsafe wire.pointee.number
        self.instant = Instant(wire: unsafe wire.pointee.instant_microseconds)
        self.counters = unsafe list(wire.pointee.n_counters, wire.pointee.counters) {
            unsafe Counter(name: $0.pointee.name.rawValue, label: $0.pointee.label, $0.pointee.value)
        }
        self.connections = unsafe list(wire.pointee.n_connections, wire.pointee.connections) {
            unsafe ConnectionMeasure($0)
        }
        self.sessions = unsafe list(wire.pointee.n_sessions, wire.pointee.sessions) {
            unsafe SessionMeasure($0)
        }
        self.isLast = unsafe wire.pointee.is_last != 0
    }
}

extension ConnectionMeasure {
    fileprivate func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__ConnectionMeasure> {
        unsafe arena.make(waymark__v1__connection_measure__init) { wire in
            unsafe wire.pointee.connection_id = self.connection.rawValue
            unsafe wire.pointee.waiting_bytes = self.waitingBytes
            unsafe wire.pointee.input_bytes = self.inputBytes
            unsafe wire.pointee.conflated = self.conflated
        }
    }

    fileprivate init(_ wire: UnsafeMutablePointer<Waymark__V1__ConnectionMeasure>) {
        self.init(ConnectionID(unsafe wire.pointee.connection_id))
        self.waitingBytes = unsafe wire.pointee.waiting_bytes
        self.inputBytes = unsafe wire.pointee.input_bytes
        self.conflated = unsafe wire.pointee.conflated
    }
}

extension SessionMeasure {
    fileprivate func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__SessionMeasure> {
        unsafe arena.make(waymark__v1__session_measure__init) { wire in
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.sequence = self.sequence
            unsafe wire.pointee.retained_bytes = self.retainedBytes
            unsafe wire.pointee.replay_bytes = self.replayBytes
            if let ageMilliseconds {
                unsafe wire.pointee.age_case = WAYMARK__V1__SESSION_MEASURE__AGE_AGE_MILLISECONDS
                unsafe wire.pointee.age_milliseconds = ageMilliseconds
            }
        }
    }

    fileprivate init(_ wire: UnsafeMutablePointer<Waymark__V1__SessionMeasure>) {
        self.init(SessionID(unsafe wire.pointee.session_id))
        self.sequence = unsafe wire.pointee.sequence
        self.retainedBytes = unsafe wire.pointee.retained_bytes
        self.replayBytes = unsafe wire.pointee.replay_bytes
        if unsafe wire.pointee.age_case == WAYMARK__V1__SESSION_MEASURE__AGE_AGE_MILLISECONDS {
            self.ageMilliseconds = unsafe wire.pointee.age_milliseconds
        }
    }
}

extension Codec {
    /// The body of ObservedFrames without its number, with these frames in place of its own. Observers with other numbers share it.
    package static func entry(_ told: ObservedFrames, _ frames: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var writer = FrameWriter(
            FrameHeader(type: MessageType.observedFrames.rawValue), bodyByteCount: frames.count + 64)
        told.write(frames, to: &writer)
        return writer.frame().body
    }

    /// The redacted form of a body that ``entry(_:_:)`` made.
    package static func redacted(entry body: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        do throws(DecodingError) {
            let header = FrameHeader(type: MessageType.observedFrames.rawValue)
            var numbered = Array(body)
            // A message needs a number to be read.
            numbered += [UInt8(FieldNumber.ObservedFrames.number << 3), 1]
            guard
                case .observedFrames(var told) = try self.decode(Frame(header: header, body: numbered))
                    .message
            else { return [] }
            told.isRedacted = true
            return self.entry(told, self.redacted(told.frames)[...])
        } catch { return [] }  // Not reached: the body was made by this build.
    }

    /// A frame of an entry for an observer that has `number` entries with it. The entry has no number of its own.
    package static func frame(ofEntry body: ArraySlice<UInt8>, _ type: MessageType, number: UInt64) -> Frame {
        var writer = FrameWriter(FrameHeader(type: type.rawValue), bodyByteCount: body.count + 11)
        // All three messages have their number in the same field.
        writer.number(FieldNumber.ObservedFrames.number, number)
        writer.fields(body)
        return writer.frame()
    }
}
