internal import WaymarkCodec
internal import WaymarkProtocol

/// The buffers for reading and writing messages that all connections of a loop share: an idle connection holds none.
final class LoopCodecs {
    let decoder = BodyDecoder()
    let encoder = CachingEncoder()
    /// There are observers: the gateway's core must see what crosses a connection.
    var isObserved = false
    private var lastPing: (nonce: UInt64, frame: Frame)?

    /// A Ping. Peers that connected at the same time have the same nonce, and share the frame.
    func ping(_ nonce: UInt64) -> Frame {
        if let (last, frame) = self.lastPing, last == nonce { return frame }
        let frame = Codec.ping(nonce: nonce)
        self.lastPing = (nonce, frame)
        return frame
    }
}
