import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

@Suite struct ByteLimitTests {
    /// The beginning of a frame of 200 000 bytes.
    private static func part(_ byteCount: Int) -> [UInt8] {
        let header = FrameHeader(type: 0x0108, session: LoopRig.session, sequence: 1)
        return Array(Frame(header: header, body: Array(repeating: 0, count: 200_000)).bytes.prefix(byteCount))
    }

    /// The Goodbyes since the last call, by connection.
    private static func goodbyes(_ rig: inout LoopRig) -> [Int: CloseCode] {
        var codes: [Int: CloseCode] = [:]
        for case .note(let slot, .closing(let goodbye)) in rig.take() { codes[slot] = goodbye.code }
        return codes
    }

    @Test func `above a user's limit of input its oldest unfinished frame is given up`() throws {
        var rig = LoopRig(inputBytesPerUserMax: 250_000)
        let other = try rig.endpoint(1, of: Payer(rawValue: UInt64(2)))
        rig.receive(other, Self.part(100_000))
        var slots: [Int] = []
        for number in UInt64(2)...4 { slots.append(try rig.endpoint(number, of: Payer(rawValue: UInt64(1)))) }
        for slot in slots.prefix(2) { rig.receive(slot, Self.part(100_000)) }
        #expect(Self.goodbyes(&rig).isEmpty)
        rig.receive(slots[2], Self.part(100_000))
        #expect(Self.goodbyes(&rig) == [slots[0]: .resourceLimit])
        #expect(rig.core.inputByteCount < 350_000)
    }

    @Test func `above the limit of all input the oldest unfinished frame is given up`() throws {
        var rig = LoopRig(inputBytesMax: 250_000)
        var slots: [Int] = []
        for number in UInt64(1)...3 {
            slots.append(try rig.endpoint(number, of: Payer(rawValue: UInt64(UInt32(number)))))
        }
        for slot in slots { rig.receive(slot, Self.part(100_000)) }
        #expect(Self.goodbyes(&rig) == [slots[0]: .resourceLimit])
    }

    @Test func `input is counted as it arrives, and no longer once its connection is gone`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        rig.receive(slot, Self.part(100))
        #expect(rig.core.inputByteCount == 0)
        rig.receive(slot, Array(Self.part(20_100).dropFirst(100)))
        #expect((20_100...42_000).contains(rig.core.inputByteCount))
        rig.change { core, now, _, actions in core.remove(slot, at: now, into: &actions) }
        #expect(rig.core.inputByteCount == 0)
    }

    @Test func `the rest of a large frame behind a small one is not copied for each endpoint`() throws {
        var rig = LoopRig()
        let small = Codec.encode(LoopRig.roadName(1))
        let large = Frame(
            header: FrameHeader(type: 0x0108, sequence: 2), body: Array(repeating: 7, count: 1_000_000))
        var slots: [Int] = []
        for number in 1...3 {
            let slot = try rig.endpoint(UInt64(number))
            rig.setRoom(small.bytes.count, of: slot)
            rig.perform([
                .send(ConnectionID(UInt64(number)), small), .send(ConnectionID(UInt64(number)), large),
            ])
            slots.append(slot)
        }
        let start = large.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        _ = rig.take()
        for slot in slots {
            #expect(rig.core.waitingByteCount > 1_000_000)
            rig.change { core, now, send, actions in
                core.handle(.closeRequested(Goodbye(.takenOver)), on: slot, at: now, send, into: &actions)
            }
        }
        var count = 0
        for case .close(_, let rest) in rig.take() {
            let addresses = rest.map { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
            #expect((start..<start + 1_000_000).contains(addresses[0]))
            count += 1
        }
        #expect(count == 3)
    }

    @Test func `what is held for the endpoints of one user is limited`() throws {
        var rig = LoopRig(waitingBytesPerUserMax: 50_000)
        let frame = Frame(
            header: FrameHeader(type: 0x0108, sequence: 2), body: Array(repeating: 7, count: 40_000))
        var slots: [Int] = []
        for number in UInt64(1)...3 {
            slots.append(try rig.endpoint(number, of: Payer(rawValue: UInt64(number == 3 ? 2 : 1))))
        }
        for slot in slots { rig.setRoom(0, of: slot) }
        rig.perform([.send(ConnectionID(1), frame), .send(ConnectionID(3), frame)])
        #expect(Self.goodbyes(&rig).isEmpty)
        rig.perform([.send(ConnectionID(2), frame)])
        #expect(Self.goodbyes(&rig) == [slots[1]: .slowConsumer])
        // The one that was closed is no longer counted: the others stay.
        rig.perform([.send(ConnectionID(1), Codec.encode(LoopRig.roadName(3)))])
        #expect(Self.goodbyes(&rig).isEmpty)
    }

    @Test func `of a long outbox a closing connection gets only the end`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        rig.setRoom(0, of: slot)
        for sequence in UInt64(1)...20 {
            let body = Array(repeating: UInt8(sequence), count: 30_000)
            let frame = Frame(header: FrameHeader(type: 0x0108, sequence: sequence), body: body)
            rig.perform([.send(ConnectionID(1), frame)])
        }
        let portion = rig.portions(slot)
        rig.change { core, now, send, actions in
            core.handle(.closeRequested(Goodbye(.takenOver)), on: slot, at: now, send, into: &actions)
        }
        var splitter = FrameSplitter(frameBytesMax: 100_000)
        splitter.append(portion)
        for case .close(_, let rest) in rig.take() { splitter.append(Array(rest.joined())) }
        var frames: [Frame] = []
        while let frame = try splitter.next() { frames.append(frame) }
        #expect(frames.map(\.header.sequence) == [1, 19, 20, 0])
        #expect(frames.last?.header.type == .goodbye && splitter.isEmpty)
        #expect(rig.core.waitingByteCount == 0)
    }
}
