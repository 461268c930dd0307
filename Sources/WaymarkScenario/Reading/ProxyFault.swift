package import WaymarkProtocol

/// A fault of a proxy.
package struct ProxyFault: Sendable, Hashable {
    /// Stands for a peer that is not known yet.
    package static let unnamedPeer = ClientID(unchecked: "?")

    /// nil: the proxy gives it one.
    package let name: String?
    package let fault: Scenario.Fault
    /// The event that it comes after is a message of the connection itself, and not of another peer.
    package let hasOwnEvent: Bool

    package init(name: String?, _ fault: Scenario.Fault, hasOwnEvent: Bool) {
        (self.name, self.fault, self.hasOwnEvent) = (name, fault, hasOwnEvent)
    }
}

/// The content of a file of faults.
package struct ProxyFaults: Sendable, Hashable {
    /// The number of faults that a proxy has at most.
    package static let countMax = 64

    package var about: String?
    /// nil: the command decides.
    package var seed: UInt64?
    /// The faults in the order of the file.
    package var faults: [ProxyFault] = []
    package init() {}
}

/// The request of a line of the control socket.
package enum ProxyRequest: Sendable, Hashable {
    case fault(ProxyFault)
    case clear(String)
    case clearAll
    case list
}
