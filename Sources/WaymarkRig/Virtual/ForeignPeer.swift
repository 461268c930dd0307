package import WaymarkClient
package import WaymarkHistory
package import WaymarkProtocol

/// A program under test. The rig knows it by its connection alone: what its socket does goes in, what must be done to its socket comes out.
package struct ForeignPeer: RigPeer {
    /// What the driver must do to the program's socket, in order.
    package enum Order: Sendable, Hashable {
        case write([UInt8])
        case setReading(Bool)
        /// What was written is still sent.
        case close
        case reset
    }

    package let id: PeerID
    package let storage: VehicleLimits?
    /// Its transport to the gateway.
    private enum Transport: Sendable { case none, connecting, open }

    private var orders: [Order] = []
    private var transport = Transport.none
    /// It connected anew before the old transport was gone, whose end it is told next.
    private var isReplacing = false
    /// What it wrote before the transport was open.
    private var unsent: [UInt8] = []
    /// Its socket accepts more.
    private var isWritable = true

    /// A program that has not connected. An endpoint's storage is that of its Hello.
    package init(_ id: PeerID) {
        self.id = id
        self.storage = id.vehicle == nil ? nil : VehicleLimits()
    }

    package var deadline: Instant? { nil }
    package var isForeign: Bool { true }
    package var mayReceive: Bool { self.isWritable }

    package mutating func takeOrders() -> [Order] {
        defer { self.orders = [] }
        return self.orders
    }

    // MARK: The gateway's side

    package mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction]) {
        switch event {
        case .transportOpened:
            self.transport = .open
            actions.append(.write(self.unsent))
            self.unsent = []
        case .received(let bytes): self.orders.append(.write(bytes))
        case .wrote: self.orders.append(.setReading(true))
        case .transportClosed:
            if self.isReplacing {
                self.isReplacing = false
            } else if self.transport != .none {
                self.forget()
                self.orders.append(.close)
            }
        case .open, .deadlineReached, .close: break
        }
    }

    package mutating func reset(at now: Instant, into actions: inout [PeerAction]) {
        self.forget()
        self.orders.append(.reset)
    }

    private mutating func forget() {
        (self.transport, self.isWritable, self.unsent) = (.none, true, [])
    }

    // MARK: The program's side

    /// It has connected, and these are the first bytes that it wrote.
    package mutating func connected(_ bytes: [UInt8], into actions: inout [PeerAction]) {
        if self.transport != .none { actions.append(.closeTransport) }
        self.isReplacing = self.transport == .open
        self.forget()
        self.orders = []
        (self.transport, self.unsent) = (.connecting, bytes)
        actions.append(.connect)
    }

    /// Its socket is not read on before these bytes are written.
    package mutating func received(_ bytes: [UInt8], into actions: inout [PeerAction]) {
        self.orders.append(.setReading(false))
        if self.transport == .open { actions.append(.write(bytes)) } else { self.unsent += bytes }
    }

    /// It writes nothing more.
    package mutating func ended(into actions: inout [PeerAction]) { actions.append(.halfClose) }

    package mutating func closed(into actions: inout [PeerAction]) {
        guard self.transport != .none else { return }
        self.forget()
        actions.append(.closeTransport)
    }

    package mutating func setWritable(_ isWritable: Bool) { self.isWritable = isWritable }
}
