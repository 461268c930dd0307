internal import WaymarkCodec
package import WaymarkProtocol
package import WaymarkRecording

/// Recordings of anything: of what a hostile gateway told, at any times, and then damaged.
package struct HostileRecording: ByteSource {
    package let bytes: [UInt8]

    package var byteCount: UInt64 { UInt64(self.bytes.count) }

    package func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8] {
        guard range.upperBound <= self.byteCount else { throw .malformed("behind the end") }
        return Array(self.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    /// `jumps`: the clock jumps, also by centuries. `isDamaged`: bytes are changed.
    package init(seed: UInt64, jumps: Bool, isDamaged: Bool) {
        var gateway = HostileGateway(seed: seed, HostileGateway.ofObservers)
        var file = Self.recorded(&gateway, jumps: jumps)
        if isDamaged { Self.damage(&file, &gateway.random) }
        self.bytes = file
    }

    private static func recorded(_ gateway: inout HostileGateway, jumps: Bool) -> [UInt8] {
        var options = Recorder.Options()
        (options.stateBytes, options.chunkBytesMax) = (4_000, 2_000)
        var recorder = Recorder(options)
        var actions: [Recorder.Action] = []
        var now = RecordingTime(nanoseconds: 1_700_000_000_000_000_000)
        recorder.handle(.welcomed(gateway.welcome()), at: now, into: &actions)
        for _ in 0..<120 {
            if jumps, gateway.random.next() % 10 == 0 {
                now = RecordingTime(nanoseconds: gateway.random.number(0...UInt64.max))
            }
            now = now + .milliseconds(gateway.random.number(0...2_000))
            if let message = gateway.nextMessage() {
                recorder.handle(.received(message), at: now, into: &actions)
            }
            recorder.handle(.tick, at: now, into: &actions)
        }
        recorder.handle(.ended, at: now, into: &actions)
        var file: [UInt8] = []
        for action in actions { if case .write(let bytes) = action { file += bytes } }
        return file
    }

    /// Takes the sums of chunks and summary away, so that readers look at what is changed, and changes numbers anywhere.
    private static func damage(_ file: inout [UInt8], _ random: inout RandomValues) {
        func number(at offset: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(file[offset + $1]) << UInt64(8 * $1) }
        }
        var offset = 8
        while offset + 9 <= file.count {
            let length = number(at: offset + 1)
            guard length <= UInt64(file.count - offset - 9) else { break }
            // A chunk's sum is behind three numbers of 64 bits, a footer's behind two.
            if file[offset] == 6, length >= 28 {
                file.replaceSubrange(offset + 33..<offset + 37, with: [0, 0, 0, 0])
            }
            if file[offset] == 2, length >= 20 {
                file.replaceSubrange(offset + 25..<offset + 29, with: [0, 0, 0, 0])
            }
            offset += 9 + Int(length)
        }
        for _ in 0...random.next() % 6 {
            // Half of the changes are in the last tenth, where the summary is.
            let first = random.flag() ? 8 : file.count / 10 * 9
            let place = random.number(first...file.count - 9)
            let width = random.pick([1, 2, 4, 8])
            let value = random.number(0...UInt64.max)
            for byte in 0..<width {
                file[place + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
            }
        }
        if random.next() % 8 == 0 { file.removeLast(random.number(1...file.count / 2)) }
    }
}

extension HostileGateway {
    /// The next message that can be read.
    package mutating func nextMessage() -> Message? {
        let bytes = self.next()
        guard let frame = Frame.all(in: bytes).first else { return nil }
        do throws(DecodingError) { return try Codec.decode(frame).message } catch { return nil }
    }
}
