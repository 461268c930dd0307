internal import WaymarkCodec
package import WaymarkHistory
internal import WaymarkProtocol

/// Who a connection is, by its Hello.
package enum HelloName: Sendable, Hashable {
    /// The Hello is not whole yet.
    case needsMore
    case peer(PeerID)
    /// The connection does not begin with a Hello that can be read.
    case unnamed

    /// Reads the first bytes that a peer sent.
    package init(_ bytes: [UInt8]) {
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.helloFrameBytesMax)
        splitter.append(bytes)
        self = .unnamed
        do throws(FramingError) {
            guard let frame = try splitter.next() else {
                self = .needsMore
                return
            }
            do throws(DecodingError) {
                if case .hello(let hello) = try Codec.decode(frame).message { self = .peer(hello.peer) }
            } catch { /* The gateway says what is wrong with it. */  }
        } catch { /* Likewise. */  }
    }
}

extension Hello {
    fileprivate var peer: PeerID {
        switch self.role {
        case .vehicle(let hello): .endpoint(hello.vehicle, hello.endpoint)
        case .navigation(let hello): .client(hello.client)
        // Why as a client: faults name it in the same way, and a history has no observers.
        case .observer(let hello): .client(ClientID(unchecked: hello.observer.rawValue))
        }
    }
}
