package import WaymarkHistory

/// What a proxy did, in the order in which it happened.
package enum ProxyEvent: Sendable {
    /// A connection said who it is, or nil if it cannot.
    case connected(ProxyConnection)
    case fault(FaultRecord)
    case ended(ProxyConnection, ProxyEnding)
    /// A request on the control socket that was performed.
    case control(String)
}

/// A connection through a proxy.
package struct ProxyConnection: Sendable, Hashable {
    package let number: Int
    /// Which pair of addresses, from 0.
    package let pair: Int
    /// nil: it has not said who it is.
    package internal(set) var peer: PeerID?
    package internal(set) var bytesToGateway = 0
    package internal(set) var bytesToPeer = 0

    init(number: Int, pair: Int) { (self.number, self.pair) = (number, pair) }
}

/// How a connection ended.
package enum ProxyEnding: Sendable, Hashable {
    case closedByPeer, closedByGateway, resetByPeer, resetByGateway
    case byFault
    /// A fault refused it, or there were too many connections.
    case refused
    /// Why the gateway could not be reached.
    case noGateway(String)
    /// The proxy ended.
    case proxyEnded
}
