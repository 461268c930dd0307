internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// Goodbye, Error, and codes that a newer peer may have more of. A message that ends something is understood even if its
// code is not: refusing it would leave the thing open.

extension SessionEndReason {
    /// Reads a reason; one that this build does not know is ``unrecognized``.
    init(wire: UInt32) { self = SessionEndReason(rawValue: wire) ?? .unrecognized }
}

extension Outcome {
    /// Reads an outcome; one that this build does not know is ``invalid``: not accepted, and not worth repeating.
    init(wire: UInt32) { self = Outcome(rawValue: wire) ?? .invalid }
}

extension ErrorCode {
    /// Reads a code; one that this build does not know is ``inconsistent``: refused, for what it says.
    init(wire: UInt32) { self = ErrorCode(rawValue: wire) ?? .inconsistent }
}

extension ReachedLimit {
    /// nil for an empty name, which means that no limit is the reason.
    fileprivate init?(name: String, value: UInt64) {
        guard !name.isEmpty else { return nil }
        self.init(name, value)
    }
}

extension Goodbye {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__goodbye__init) { wire in
            unsafe wire.pointee.code = .init(rawValue: self.code.rawValue)
            unsafe wire.pointee.reason = arena.text(self.reason)
            unsafe wire.pointee.reconnect_after_milliseconds = self.reconnectAfterMilliseconds
            unsafe wire.pointee.limit = arena.text(self.limit?.name ?? "")
            unsafe wire.pointee.limit_value = self.limit?.value ?? 0
        }
    }

    /// A code that this build does not know reads as ``CloseCode/internalError``: worth coming back later.
    init(_ wire: UnsafeMutablePointer<Waymark__V1__Goodbye>) {
        self.init(
            CloseCode(rawValue: unsafe wire.pointee.code.rawValue) ?? .internalError,
            reason: unsafe text(wire.pointee.reason),
            reconnectAfterMilliseconds: unsafe wire.pointee.reconnect_after_milliseconds,
            limit: ReachedLimit(
                name: unsafe text(wire.pointee.limit), value: unsafe wire.pointee.limit_value))
    }
}

extension Rejection {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__error__init) { wire in
            unsafe wire.pointee.code = .init(rawValue: self.code.rawValue)
            unsafe wire.pointee.field = arena.text(self.field)
            unsafe wire.pointee.reason = arena.text(self.reason)
            unsafe wire.pointee.message_type = UInt32(self.messageType)
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.sequence = self.sequence
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.limit = arena.text(self.limit?.name ?? "")
            unsafe wire.pointee.limit_value = self.limit?.value ?? 0
            unsafe wire.pointee.retry_after_milliseconds = self.retryAfterMilliseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__Error>) {
        self.init(
            ErrorCode(wire: unsafe wire.pointee.code.rawValue), field: unsafe text(wire.pointee.field),
            reason: unsafe text(wire.pointee.reason),
            limit: ReachedLimit(
                name: unsafe text(wire.pointee.limit), value: unsafe wire.pointee.limit_value))
        self.retryAfterMilliseconds = unsafe wire.pointee.retry_after_milliseconds
        self.messageType = UInt16(clamping: unsafe wire.pointee.message_type)
        self.session = SessionID(unsafe wire.pointee.session_id)
        self.sequence = unsafe wire.pointee.sequence
        self.requestID = unsafe identifier(wire.pointee.request_id)
    }
}
