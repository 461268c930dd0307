import Testing
import WaymarkGateway
import WaymarkProtocol

@testable import WaymarkConnections

/// A Hello may have a key, so what a connection read before its Welcome is overwritten before its memory is freed.
///
/// An array that was taken from a connection before shares its memory. `Tests/Python/test_keys.py` searches all memory of the daemon.
@Suite struct KeyBytesTests {
    private static let hello = LoopRig.hello(1)

    private static func kept(_ rig: LoopRig, _ slot: Int) -> [UInt8] {
        rig.core.connections[slot].splitter.read
    }

    @Test func `a Hello is overwritten once it is read, and what follows it is not`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, Self.hello + BehindHelloTests.ping)
        let kept = Self.kept(rig, slot)
        #expect(kept.prefix(Self.hello.count).allSatisfy { $0 == 0 })
        #expect(Array(kept.dropFirst(Self.hello.count)) == BehindHelloTests.ping)
        rig.admit(slot, 1)
        rig.work()
        #expect(try rig.messages(slot).map(\.type) == [.welcome, .pong])
    }

    @Test(arguments: [1, 10, 20])
    func `a part of a Hello is overwritten where it was moved from`(_ count: Int) throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, Array(Self.hello.prefix(count)))
        let before = Self.kept(rig, slot)
        #expect(before == Array(Self.hello.prefix(count)))
        rig.receive(slot, Array(Self.hello.dropFirst(count)))
        #expect(before.count == count && before.allSatisfy { $0 == 0 })
        rig.admit(slot, 1)
        #expect(try rig.messages(slot).map(\.type) == [.welcome])
    }

    @Test func `a part of a Hello is overwritten when the connection closes`() {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        let part = Array(Self.hello.dropLast())
        rig.receive(slot, part)
        let kept = Self.kept(rig, slot)
        #expect(kept == part)
        rig.handle(.closeRequested(Goodbye(.handshakeTimeout)), on: slot)
        #expect(kept.count == part.count && kept.allSatisfy { $0 == 0 })
    }
}
