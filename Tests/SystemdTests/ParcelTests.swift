import Glibc
import Testing

@testable import Systemd

@Suite struct ParcelTests {
    @Test(arguments: [0, 1, 253, 254, 600]) func `packed descriptors can be unpacked once, in order`(
        _ count: Int
    )
        throws
    {
        let sockets = (0..<count).map { _ in unixSocket(SOCK_STREAM, isListening: false) }
        let parcel = try Parcel.pack(sockets)
        let unpacked = try Parcel.unpack(parcel)
        #expect(unpacked.count == count)
        #expect(zip(sockets, unpacked).allSatisfy { isSame($0, $1) && $0 != $1 })
        #expect(unpacked.allSatisfy { fcntl($0, F_GETFD) == FD_CLOEXEC })
        #expect(try Parcel.unpack(parcel).isEmpty)
        for descriptor in sockets + unpacked + [parcel] { close(descriptor) }
    }

    @Test func `descriptors that are not unpacked are closed with the parcel`() throws {
        var pair: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let parcel = try Parcel.pack([pair[0]])
        close(pair[0])
        var byte: UInt8 = 0
        #expect(recv(pair[1], &byte, 1, CInt(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
        close(parcel)
        // A process that another test starts may briefly have a copy.
        var poll = pollfd(fd: pair[1], events: Int16(POLLIN), revents: 0)
        #expect(Glibc.poll(&poll, 1, 60_000) == 1)
        #expect(recv(pair[1], &byte, 1, CInt(MSG_DONTWAIT)) == 0)
        close(pair[1])
    }

    @Test func `a descriptor that is not a parcel is an error`() throws {
        let file = open("/dev/null", O_RDONLY)
        #expect(throws: SystemdError(function: "recvmsg", errno: ENOTSOCK)) { try Parcel.unpack(file) }
        close(file)
        #expect(throws: SystemdError(function: "sendmsg", errno: EBADF)) { try Parcel.pack([-1]) }
    }

    @Test(arguments: [0, 1, 300_000]) func `sealed memory keeps its content and cannot be changed`(
        _ count: Int
    ) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let memory = try SealedMemory.make(bytes, name: "test")
        defer { close(memory) }
        #expect(try SealedMemory.read(memory) == bytes)
        #expect(pwrite(memory, [1], 1, 0) == -1 && errno == EPERM)
        #expect(ftruncate(memory, off_t(count + 1)) == -1 && errno == EPERM)
    }

    @Test func `unsealed memory is not read`() throws {
        let file = open("/dev/null", O_RDWR)
        #expect(try SealedMemory.read(file) == nil)
        close(file)
    }

    @Test func `stored descriptors are removed from the inherited ones by name`() async {
        await #expect(processExitsWith: .success) {
            let sockets = (0..<2).map { _ in unixSocket(SOCK_STREAM, isListening: true) }
            let parcel = unixSocket(SOCK_SEQPACKET, isListening: false)
            try withInherited([sockets[0], parcel, sockets[1]], names: "a:handover:b") {
                let name = try #require(StoredName("handover"))
                var inherited = try InheritedSockets()
                let stored = inherited.removeStored(name)
                #expect(stored.count == 1 && isSame(stored[0], parcel))
                #expect(inherited.count == 2)
                let again = inherited.removeStored(name)
                #expect(again.isEmpty)
            }
        }
    }
}
