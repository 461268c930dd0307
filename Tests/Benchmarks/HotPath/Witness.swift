import NIOCore
import WaymarkCodec
import WaymarkProtocol

/// An observer of everything, which reads after each measurement.
struct Witness {
    enum Failure: Error { case lost(publications: Int, expected: Int) }

    private let station: Station
    private let peer: Peer

    init(on station: Station) throws {
        self.station = station
        self.peer = try station.connect(
            .observer(ObserverHello(observer: ObserverName(unchecked: "witness"))))
        var wish = Observe()
        (wish.wantsState, wish.wantsEvents, wish.wantsFrames) = (true, true, true)
        station.send(.observe(wish), on: self.peer)
        try self.readAll()
    }

    /// Reads what it was told, until there is no more.
    ///
    /// - Returns: The number of publications in it.
    @discardableResult
    func readAll() throws -> Int {
        var count = 0
        while true {
            self.station.run()
            self.station.advance(.milliseconds(10))
            let frames = try self.peer.frames()
            if frames.isEmpty { return count }
            for frame in frames {
                guard case .observedFrames(let observed) = try Codec.decode(frame).message else { continue }
                var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
                splitter.append(observed.frames)
                while let frame = try splitter.next() {
                    if MessageType.published.contains(frame.header.rawType) { count += 1 }
                }
            }
        }
    }

    func expect(publications expected: Int) throws {
        let count = try self.readAll()
        guard count == expected else { throw Failure.lost(publications: count, expected: expected) }
    }
}
