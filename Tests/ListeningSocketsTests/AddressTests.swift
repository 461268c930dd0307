import ListeningSockets
import Testing

@Suite struct AddressTests {
    static let right: [(String, ListenAddress)] = [
        ("tcp:127.0.0.1:7227", .tcp(host: "127.0.0.1", port: 7_227)),
        ("tcp:[::1]:0", .tcp(host: "::1", port: 0)),
        ("tcp:localhost:65535", .tcp(host: "localhost", port: 65_535)),
        ("tcp:cars.example.org:1", .tcp(host: "cars.example.org", port: 1)),
        ("unix:/run/waymark/vehicle.sock", .unix(path: "/run/waymark/vehicle.sock")),
        ("unix:/a:b", .unix(path: "/a:b")),
    ]

    @Test(arguments: right.indices)
    func `an address is parsed and printed in the same form`(_ index: Int) throws {
        let (text, address) = Self.right[index]
        #expect(try ListenAddress(text) == address)
        #expect("\(address)" == text)
    }

    @Test func `an IPv6 address is printed in its canonical form`() throws {
        #expect(try ListenAddress("tcp:[0:0::0:1]:7227") == .tcp(host: "::1", port: 7_227))
    }

    static let wrong: [(String, ListenAddressError)] = [
        ("", .unknownKind), ("127.0.0.1:80", .unknownKind), ("udp:127.0.0.1:80", .unknownKind),
        ("tcp:", .badPort), ("tcp:80", .badPort), ("tcp:host:", .badPort), ("tcp:host:65536", .badPort),
        ("tcp:host:-1", .badPort), ("tcp:host:+1", .badPort), ("tcp:host:1x", .badPort),
        ("tcp:host:\u{0661}", .badPort), ("tcp::80", .badHost), ("tcp:a b:80", .badHost),
        ("tcp:ho/st:80", .badHost), ("tcp:::1:80", .bracketsMissing), ("tcp:fe80::1:80", .bracketsMissing),
        ("tcp:[]:80", .badIPv6Address), ("tcp:[127.0.0.1]:80", .badIPv6Address),
        ("tcp:[host]:80", .badIPv6Address), ("tcp:[::1:80", .bracketsMissing), ("tcp:[::1]", .badPort),
        ("unix:", .badPath), ("unix:vehicle.sock", .badPath), ("unix:/run/", .badPath), ("unix:/", .badPath),
        ("unix:/a\0b", .badPath), ("unix:/" + String(repeating: "x", count: 107), .pathTooLong),
    ]

    @Test(arguments: wrong.indices)
    func `an invalid address is rejected with the reason`(_ index: Int) {
        let (text, error) = Self.wrong[index]
        #expect(throws: error, "\(text)") { try ListenAddress(text) }
    }

    @Test(arguments: ["tcp:127.0.0.1:1", "tcp:127.9.9.9:1", "tcp:[::1]:1", "tcp:localhost:1", "unix:/a"])
    func `loopback addresses and Unix sockets are local`(_ text: String) throws {
        #expect(try ListenAddress(text).isLocal)
    }

    @Test(arguments: [
        "tcp:127.0.0.1.example.org:1", "tcp:127.evil:1", "tcp:127.1:1", "tcp:0.0.0.0:1", "tcp:[::]:1",
        "tcp:192.168.1.1:1", "tcp:localhost.example.org:1", "tcp:[::ffff:10.0.0.1]:1",
    ])
    func `host names and other addresses are not local`(_ text: String) throws {
        #expect(try !ListenAddress(text).isLocal)
    }

    @Test func `addresses that cannot be used at the same time collide`() throws {
        func collide(_ first: String, _ second: String) throws -> Bool {
            try ListenAddress(first).collides(with: ListenAddress(second))
        }
        #expect(try collide("unix:/a", "unix:/a"))
        #expect(try !collide("unix:/a", "unix:/b"))
        #expect(try collide("tcp:127.0.0.1:5", "tcp:127.0.0.1:5"))
        #expect(try collide("tcp:0.0.0.0:5", "tcp:127.0.0.1:5"))
        #expect(try collide("tcp:127.0.0.1:5", "tcp:[::]:5"))
        #expect(try !collide("tcp:127.0.0.1:5", "tcp:127.0.0.2:5"))
        #expect(try !collide("tcp:127.0.0.1:5", "tcp:127.0.0.1:6"))
        #expect(try !collide("tcp:127.0.0.1:0", "tcp:127.0.0.1:0"))
    }
}
