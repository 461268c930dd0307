package import WaymarkProtocol

/// A fault of a proxy.
package struct ProxyFault: Sendable, Hashable {
    /// Stands for a peer that is not known yet.
    package static let unnamedPeer = ClientID(unchecked: "?")

    /// nil: the proxy gives it one.
    package let name: String?
    package let fault: Scenario.Fault
    /// What it comes after is a message of the connection itself, and not of another peer.
    package let hasOwnEvent: Bool

    package init(name: String?, _ fault: Scenario.Fault, hasOwnEvent: Bool) {
        (self.name, self.fault, self.hasOwnEvent) = (name, fault, hasOwnEvent)
    }
}

/// What a file of faults says.
package struct ProxyFaults: Sendable, Hashable {
    /// The number of faults that a proxy has at most.
    package static let countMax = 64

    package var about: String?
    /// nil: the command decides.
    package var seed: UInt64?
    /// In the order of the file.
    package var faults: [ProxyFault] = []
    package init() {}
}

/// What a line of the control socket asks for.
package enum ProxyRequest: Sendable, Hashable {
    case fault(ProxyFault)
    case clear(String)
    case clearAll
    case list
}
