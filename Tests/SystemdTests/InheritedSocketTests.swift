import Glibc
import Testing

@testable import Systemd

/// Each test runs in a process of its own, because it uses fixed descriptor numbers.
@Suite struct InheritedSocketTests {
    @Test func `a released socket stays open, other sockets are closed`() async {
        await #expect(processExitsWith: .success) {
            let kept = try InheritedSocket(descriptor: unixSocket(SOCK_STREAM, isListening: true), name: "a")
            let released = kept.release()
            #expect(isOpen(released))
            let dropped = unixSocket(SOCK_STREAM, isListening: true)
            do { _ = try InheritedSocket(descriptor: dropped, name: "b") }
            #expect(!isOpen(dropped))
        }
    }

    @Test func `descriptors that are not listening stream sockets are refused and closed`() async {
        await #expect(processExitsWith: .success) {
            _ = try InheritedSocket(descriptor: tcpSocket(isListening: true), name: "tcp")
            var ends: [CInt] = [0, 0]
            pipe(&ends)
            let wrong = [
                unixSocket(SOCK_STREAM, isListening: false), unixSocket(SOCK_DGRAM, isListening: false),
                unixSocket(SOCK_SEQPACKET, isListening: true), tcpSocket(isListening: false),
                secluded(ends[0]),
            ]
            for descriptor in wrong {
                let error = #expect(throws: InheritedSocketError.self) {
                    _ = try InheritedSocket(descriptor: descriptor, name: "x")
                }
                #expect(error == InheritedSocketError(name: "x", descriptor: descriptor))
                #expect(!isOpen(descriptor))
            }
        }
    }

    @Test
    func `inherited sockets are received once, with their names, and child processes do not inherit them`()
        async
    {
        await #expect(processExitsWith: .success) {
            let listening = tcpSocket(isListening: true)
            var ends: [CInt] = [0, 0]
            pipe(&ends)
            let handed = [listening, secluded(ends[0]), listening]
            try withInherited(handed, names: "waymarkd-vehicle:pipe:rest") {
                do {
                    var sockets = try InheritedSockets()
                    #expect(sockets.count == 3)
                    for (place, descriptor) in zip(CInt(3)..., handed) { #expect(isSame(place, descriptor)) }
                    if let first = try sockets.next() {
                        let name = first.name
                        #expect(name == "waymarkd-vehicle")
                    }
                    #expect(!isSame(3, listening))
                    #expect(fcntl(5, F_GETFD) & FD_CLOEXEC != 0)
                    #expect(throws: InheritedSocketError(name: "pipe", descriptor: 4)) {
                        _ = try sockets.next()
                    }
                    #expect(getenv("LISTEN_FDS") == nil)
                }
                for (place, descriptor) in zip(CInt(3)..., handed) { #expect(!isSame(place, descriptor)) }
                #expect(try InheritedSockets().count == 0)
            }
        }
    }
}
