import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

@Suite struct LoopCoreTests {
    private static let audience = AudienceID(1)

    private static func joined(_ rig: inout LoopRig, _ count: Int) throws -> [Int] {
        let slots = try (1...UInt64(count)).map { try rig.endpoint($0) }
        rig.perform((1...UInt64(count)).map { .join(ConnectionID($0), Self.audience) })
        return slots
    }

    /// Wherever the socket stops: in the first frame, between two, at the very start.
    @Test func `a batch that the socket accepts in part arrives whole and in order`() throws {
        let frames = [LoopRig.alert(1), LoopRig.roadName(2), LoopRig.alert(3)]
        let bytes = LoopRig.bytes(frames)
        for room in 0...bytes.count {
            var rig = LoopRig(portionBytes: 7)
            let slot = try Self.joined(&rig, 1)[0]
            rig.setRoom(room, of: slot)
            rig.perform([.publish(Self.audience, LoopRig.batch(frames))])
            var arrived = rig.sent(slot)
            #expect(arrived.count == room)
            for _ in 0..<bytes.count {
                let portion = rig.portions(slot)
                #expect(portion.count <= 7)
                arrived += portion
                guard !portion.isEmpty else { break }
                rig.channelWrote(slot)
            }
            #expect(arrived == bytes, "stopped at \(room)")
        }
    }

    @Test func `behind a socket that accepts nothing newer states replace older ones`() throws {
        var rig = LoopRig()
        let slot = try Self.joined(&rig, 1)[0]
        rig.setRoom(0, of: slot)
        rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(1)]))])
        #expect(rig.portions(slot) == LoopRig.bytes([LoopRig.alert(1)]))
        for sequence in UInt64(2)...9 {
            rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.roadName(sequence)]))])
        }
        rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(10)]))])
        #expect(rig.take().isEmpty)
        rig.setRoom(.max, of: slot)
        rig.channelWrote(slot)
        #expect(rig.sent(slot) == LoopRig.bytes([LoopRig.roadName(9), LoopRig.alert(10)]))
        #expect(rig.core.conflatedCount(slot) == 7)
        #expect(rig.core.waitingByteCount == 0)
    }

    @Test func `one member that does not keep up delays no other`() throws {
        var rig = LoopRig()
        let slots = try Self.joined(&rig, 3)
        rig.setRoom(5, of: slots[1])
        for sequence in UInt64(1)...3 {
            rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(sequence)]))])
        }
        let all = LoopRig.bytes((1...3).map { LoopRig.alert($0) })
        for slot in [slots[0], slots[2]] { #expect(rig.sent(slot) == all) }
        #expect(rig.sent(slots[1]) + rig.portions(slots[1]) == LoopRig.bytes([LoopRig.alert(1)]))
        rig.setRoom(.max, of: slots[1])
        rig.channelWrote(slots[1])
        #expect(rig.sent(slots[1]) == LoopRig.bytes([LoopRig.alert(2), LoopRig.alert(3)]))
        // And then again past everything that waits.
        rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(4)]))])
        #expect(rig.sent(slots[1]) == LoopRig.bytes([LoopRig.alert(4)]))
    }

    @Test func `sockets that accept data again at once are sent no more than a round's budget`() throws {
        var rig = LoopRig()
        rig.core.budget.round = 8
        let slots = try Self.joined(&rig, 6)
        rig.work()
        for slot in slots { rig.setRoom(0, of: slot) }
        let alerts = (1...4).map { LoopRig.alert($0, String(repeating: "x", count: 1_000)) }
        rig.perform([.publish(Self.audience, LoopRig.batch(alerts))])
        rig.work()
        let portions = rig.take().reduce(into: [Int: Int]()) { result, action in
            if case .write(let slot, let portion) = action { result[slot] = portion.count }
        }
        #expect(portions.count == slots.count)
        for slot in slots { rig.setRoom(.max, of: slot) }
        for slot in slots { rig.channelWrote(slot) }
        var arrived = slots.map { rig.sent($0) }
        #expect(arrived.count { !$0.isEmpty } == 2)
        // What is published meanwhile does not overtake what waits for its turn.
        rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(5)]))])
        while rig.core.hasPlannedWork() {
            rig.work()
            let now = slots.map { rig.sent($0) }
            #expect(now.count { $0.count > 1_024 } <= 2)
            for index in slots.indices { arrived[index] += now[index] }
        }
        let all = LoopRig.bytes(alerts + [LoopRig.alert(5)])
        for (slot, bytes) in zip(slots, arrived) {
            #expect(bytes == Array(all.dropFirst(portions[slot] ?? 0)))
        }
    }

    @Test func `a socket that accepts everything is sent a long frame in turns`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        let header = FrameHeader(type: 0x01E1, flags: .skippable)
        let frame = Frame(header: header, body: [UInt8](repeating: 7, count: 1_000_000))
        rig.perform([.send(ConnectionID(1), frame)])
        var arrived: [UInt8] = []
        while arrived.count < frame.bytes.count {
            let sent = rig.sent(slot)
            #expect(sent.count <= 262_144)
            let portion = rig.portions(slot)
            arrived += sent + portion
            guard !portion.isEmpty else { break }
            rig.channelWrote(slot)
        }
        #expect(arrived == Array(frame.bytes))
    }

    @Test func `an answer is not overtaken by what is published behind it`() throws {
        var rig = LoopRig()
        let slot = try Self.joined(&rig, 1)[0]
        let answer = Codec.encode(Envelope(.pong(nonce: 1)))
        rig.perform([
            .send(ConnectionID(1), answer), .publish(Self.audience, LoopRig.batch([LoopRig.alert(1)])),
            .send(ConnectionID(1), answer),
        ])
        #expect(
            rig.sent(slot) == Array(answer.bytes) + LoopRig.bytes([LoopRig.alert(1)]) + Array(answer.bytes))
    }

    @Test func `what waits beyond a limit closes the connection, and nothing follows its Goodbye`() throws {
        for isLoopLimit in [true, false] {
            var rig = LoopRig(waitingBytesMax: isLoopLimit ? 2_000 : .max)
            var outbox = Outbox.Limits()
            if !isLoopLimit { outbox.bytesMax = 2_000 }
            let slot = try rig.endpoint(1, outbox: outbox)
            rig.perform([.join(ConnectionID(1), Self.audience)])
            rig.setRoom(3, of: slot)
            var closings: [[UInt8]] = []
            for sequence in UInt64(1)...40 {
                rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(sequence)]))])
                for case .close(slot, let rest) in rig.take() { closings.append(Array(rest.joined())) }
            }
            #expect(closings.count == 1)
            #expect(rig.core.isClosing(slot))
            var splitter = FrameSplitter(frameBytesMax: 1_000)
            splitter.append(closings.first ?? [])
            let first = try splitter.next()
            let goodbye = try #require(first)
            #expect(goodbye.header.type == .goodbye)
            #expect(splitter.isEmpty)
            #expect(rig.core.waitingByteCount == 0)
        }
    }

    @Test func `a peer that reads nothing for too long is closed, one that reads slowly is not`() throws {
        var rig = LoopRig(portionBytes: 10)
        let slots = try Self.joined(&rig, 2)
        for slot in slots { rig.setRoom(0, of: slot) }
        rig.perform([
            .publish(Self.audience, LoopRig.batch([LoopRig.alert(1, String(repeating: "x", count: 500))]))
        ])
        var closed: [Int] = []
        for _ in 0..<40 {
            rig.now = rig.now + .seconds(1)
            rig.channelWrote(slots[1])
            rig.change { core, now, send, actions in
                core.deadlineReached(at: now, send, into: &actions)
            }
            for case .close(let slot, _) in rig.take() { closed.append(slot) }
            for slot in slots where !closed.contains(slot) {
                rig.receive(slot, Array(Codec.encode(Envelope(.pong(nonce: 0))).bytes))
            }
        }
        #expect(closed == [slots[0]])
    }

    @Test func `a suspended connection continues elsewhere with what it had read and what waited`() throws {
        var rig = LoopRig()
        let slot = try Self.joined(&rig, 1)[0]
        let ping = Array(Codec.encode(Envelope(.ping(nonce: 5))).bytes)
        rig.receive(slot, Array(ping[..<10]))
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        let isDrained = rig.take().contains { if case .drained(slot) = $0 { true } else { false } }
        #expect(isDrained)
        rig.receive(slot, Array(ping[10...]))
        rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(1), LoopRig.alert(2)]))])
        #expect(rig.sent(slot).isEmpty)
        let state = rig.core.detach(slot)
        let detached = try #require(state)

        var next = LoopRig()
        var adopted = -1
        next.change { core, now, _, actions in
            adopted = core.adopt(
                detached, payer: Payer(rawValue: 1), outbox: Outbox.Limits(), at: now, into: &actions)
            core.open(adopted, LoopRig.socket(adopted), at: now, into: &actions)
        }
        #expect(next.sent(adopted).isEmpty)
        next.change { core, now, send, actions in
            let continues = core.resume(adopted, at: now, send, into: &actions)
            #expect(continues)
            core.work(at: now, send, into: &actions)
        }
        let pong = Array(Codec.encode(Envelope(.pong(nonce: 5))).bytes)
        #expect(next.sent(adopted) == LoopRig.bytes([LoopRig.alert(1), LoopRig.alert(2)]) + pong)
        next.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(3)]))])
        #expect(next.sent(adopted) == LoopRig.bytes([LoopRig.alert(3)]))
    }

    @Test func `a connection is read no further while four of its batches wait for the gateway`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        let request = Array(Codec.encode(Envelope(.allowNavigation)).bytes)
        for _ in 1...4 {
            let mayRead = rig.core.mayRead(slot)
            #expect(mayRead)
            rig.receive(slot, request)
        }
        let mayRead = rig.core.mayRead(slot)
        #expect(!mayRead)
        _ = rig.take()
        rig.change { core, _, _, actions in
            core.end(ProcessedBatch(connection: ConnectionID(1), cost: 0), into: &actions)
        }
        let reads = rig.take().contains { if case .read(slot) = $0 { true } else { false } }
        #expect(reads)
    }

    @Test func `input waits while the gateway is behind with what was read of all connections`() throws {
        var rig = LoopRig()
        let slots = try (1...3).map { try rig.endpoint(UInt64($0)) }
        rig.core.budget.submitted = 4
        let request = Array(Codec.encode(Envelope(.allowNavigation)).bytes)
        func submitted() -> [ProcessedBatch] {
            rig.take().compactMap {
                if case .submit(_, let id, let cost, _) = $0 {
                    ProcessedBatch(connection: id, cost: cost)
                } else {
                    nil
                }
            }
        }
        rig.receive(slots[0], request + request)
        rig.receive(slots[1], request + request)
        let batches = submitted()
        #expect(batches.map(\.connection) == [ConnectionID(1), ConnectionID(2)])
        #expect(batches.map(\.cost) == [2, 2])
        rig.receive(slots[2], request)
        rig.change { core, now, send, actions in core.work(at: now, send, into: &actions) }
        #expect(submitted().isEmpty)
        // The connection has closed meanwhile.
        rig.change { core, now, _, actions in core.remove(slots[0], at: now, into: &actions) }
        rig.change { core, now, send, actions in
            core.end(batches[0], into: &actions)
            core.work(at: now, send, into: &actions)
        }
        #expect(submitted().map(\.connection) == [ConnectionID(3)])
    }

    @Test func `a slot is used again, and what was meant for its old connection is ignored`() throws {
        var rig = LoopRig()
        let slots = try Self.joined(&rig, 2)
        rig.change { core, now, _, actions in core.remove(slots[0], at: now, into: &actions) }
        #expect(rig.core.slot(of: ConnectionID(1)) == nil)
        let third = try rig.endpoint(3)
        #expect(third == slots[0])
        rig.perform([
            .send(ConnectionID(1), Codec.encode(Envelope(.pong(nonce: 1)))),
            .publish(Self.audience, LoopRig.batch([LoopRig.alert(1)])),
        ])
        #expect(rig.sent(third).isEmpty)
        #expect(rig.sent(slots[1]) == LoopRig.bytes([LoopRig.alert(1)]))
    }

    @Test func `what waits behind a full socket is dropped with its session, but for the frame under way`()
        throws
    {
        var rig = LoopRig(portionBytes: 10)
        let slot = try Self.joined(&rig, 1)[0]
        rig.setRoom(0, of: slot)
        let frames = (1...3).map { LoopRig.alert($0) }
        rig.perform([
            .publish(Self.audience, LoopRig.batch(frames)), .purge(ConnectionID(1), LoopRig.session),
        ])
        var arrived = rig.portions(slot)
        for _ in 0..<100 {
            rig.channelWrote(slot)
            arrived += rig.portions(slot)
        }
        #expect(arrived == LoopRig.bytes([frames[0]]))
    }

    @Test func `a suspended connection for which too much waits is not handed over`() throws {
        var rig = LoopRig()
        var outbox = Outbox.Limits()
        outbox.bytesMax = 400
        let slot = try rig.endpoint(1, outbox: outbox)
        rig.perform([.join(ConnectionID(1), Self.audience)])
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        #expect(rig.core.isDetachable(slot))
        for sequence in UInt64(1)...5 {
            rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(sequence)]))])
        }
        #expect(!rig.core.isDetachable(slot))
        let state = rig.core.detach(slot)
        #expect(state == nil)
    }
}
