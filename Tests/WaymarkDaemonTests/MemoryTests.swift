import Foundation
import Glibc
import ListeningSockets
import ProcessIO
import Testing
import WaymarkCodec
import WaymarkProtocol

/// Keys of peers do not stay in the memory of a `waymarkd`.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: executable.path)))
struct MemoryTests {
    /// A daemon with two keys in files, of which it keeps only digests.
    private struct Keyed {
        let key = Self.newKey()
        let otherKey = Self.newKey()
        let folder: Folder
        let run: Run
        let address: ListenAddress

        init() throws {
            self.folder = try Folder()
            try KeyTests.write(self.folder, "one.key", self.key)
            try KeyTests.write(self.folder, "other.key", self.otherKey + "\n")
            let settings = """
                listeners:
                  - address: unix:\(self.folder.path("socket"))
                    roles: [vehicle]
                    keys: [{name: one, key-file: one.key}, {name: other, key-file: other.key}]
                """
            try KeyTests.write(self.folder, "f.yaml", settings)
            self.run = try Run(["--config", self.folder.path("f.yaml")])
            self.address = try self.run.addresses(1)[0]
        }

        /// 32 random letters.
        static func newKey() -> String {
            String((0..<32).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" })
        }

        /// How often the daemon's memory contains the key.
        func copies(of key: String) throws -> Int {
            try Memory(of: self.run.process.id).count(of: Array(key.utf8))
        }

        /// Sends a Hello in pieces of `byteCount` bytes, each when the daemon has read the one before it.
        ///
        /// - Returns: The answer.
        func sayHello(
            _ vehicle: String, key: String, piecesOf byteCount: Int = .max
        ) throws -> (peer: RawSocket, answer: MessageType?) {
            let peer = try RawSocket(self.address)
            let frame = Codec.encode(Envelope(KeyTests.hello(vehicle, key: key)))
            var rest = Array(frame.bytes)[...]
            while !rest.isEmpty {
                try peer.send(Array(rest.prefix(byteCount)))
                rest = rest.dropFirst(byteCount)
                try peer.waitUntilRead()
            }
            return (peer, try peer.receive()?.type)
        }

        func stop() {
            self.run.process.signal(SIGTERM)
            #expect(self.run.status() == 0)
        }
    }

    /// Looks for the key until there is no copy of it: the daemon frees what it wipes shortly after its answer.
    private func expectNone(
        _ daemon: Keyed, of key: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let count = try Self.looks(for: 0) { try daemon.copies(of: key) }
        #expect(count == 0, "\(name)", sourceLocation: sourceLocation)
    }

    /// Counts until there are at most so many, a few hundred times.
    private static func looks(for countMax: Int, _ count: () throws -> Int) throws -> Int {
        var found = try count()
        for _ in 0..<300 where found > countMax { found = try count() }
        return found
    }

    @Test func `of a key in the settings the daemon holds no more copies after a Hello with it`() throws {
        let (folder, key) = (try Folder(), Keyed.newKey())
        let settings =
            "listeners: [{address: 'unix:\(folder.path("socket"))', roles: [vehicle], key: \(key)}]\n"
        try KeyTests.write(folder, "f.yaml", settings)
        let run = try Run(["--config", folder.path("f.yaml")])
        let address = try run.addresses(1)[0]
        let memory = Memory(of: run.process.id)
        let count = try memory.count(of: Array(key.utf8))
        #expect(count > 0, "the search finds what is there")
        let peer = try RawSocket.welcomed(address, KeyTests.hello("bus", key: key))
        #expect(try Self.looks(for: count) { try memory.count(of: Array(key.utf8)) } <= count)
        #expect(try peer.isAnswered())
        run.process.signal(SIGTERM)
        #expect(run.status() == 0)
    }

    @Test func `the key of an accepted Hello is in no memory of the daemon`() throws {
        let daemon = try Keyed()
        try self.expectNone(daemon, of: daemon.key, "in its file only")
        let whole = try daemon.sayHello("bus", key: daemon.key)
        #expect(whole.answer == .welcome)
        try self.expectNone(daemon, of: daemon.key, "while its peer is connected")
        let cut = try daemon.sayHello("tram", key: daemon.otherKey, piecesOf: 1)
        #expect(cut.answer == .welcome)
        try self.expectNone(daemon, of: daemon.otherKey, "of a Hello in many reads")
        try self.expectNone(daemon, of: daemon.key, "after another Hello")
        daemon.stop()
    }

    @Test(arguments: [Int.max, 100, 7, 1])
    func `a wrong key is in no memory of the daemon`(piecesOf byteCount: Int) throws {
        let daemon = try Keyed()
        let wrong = Keyed.newKey()
        let refused = try daemon.sayHello("bus", key: wrong, piecesOf: byteCount)
        #expect(refused.answer == .goodbye)
        try self.expectNone(daemon, of: wrong, "in pieces of \(byteCount) bytes")
        daemon.stop()
    }

    @Test func `the key of a Hello that never ends, or that cannot be read, is in no memory of the daemon`()
        throws
    {
        let daemon = try Keyed()
        let (unfinished, unreadable) = (Keyed.newKey(), Keyed.newKey())
        do {
            let peer = try RawSocket(daemon.address)
            let frame = Codec.encode(Envelope(KeyTests.hello("bus", key: unfinished)))
            try peer.send(Array(frame.bytes.dropLast()))
            try peer.waitUntilRead()
        }
        try self.expectNone(daemon, of: unfinished, "unfinished")
        let peer = try RawSocket(daemon.address)
        try peer.send(Array(unreadable.utf8))
        #expect(try peer.goodbye()?.code == .badMagic)
        try self.expectNone(daemon, of: unreadable, "unreadable")
        daemon.stop()
    }
}

/// The memory that a process of this user can write to.
private struct Memory {
    private let process: pid_t

    init(of process: pid_t) { self.process = process }

    func count(of bytes: [UInt8]) throws -> Int {
        let maps = try String(contentsOfFile: "/proc/\(self.process)/maps", encoding: .utf8)
        let file = open("/proc/\(self.process)/mem", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0, "the memory of \(self.process) cannot be opened")
        defer { close(file) }
        var (found, byteCount) = (0, 0)
        for line in maps.split(separator: "\n") {
            guard let match = line.firstMatch(of: /^([0-9a-f]+)-([0-9a-f]+) rw/),
                let start = Int(match.1, radix: 16), let end = Int(match.2, radix: 16)
            else { continue }
            var region = Data(count: end - start)
            let count = region.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, start) }
            // Some regions are not memory, and cannot be read.
            guard count > 0 else { continue }
            byteCount += count
            var rest = 0..<count
            while let hit = region.range(of: Data(bytes), in: rest) {
                found += 1
                rest = hit.lowerBound + 1..<count
            }
        }
        try #require(byteCount > 0, "no memory of \(self.process) could be read")
        return found
    }
}

extension RawSocket {
    /// Waits until the daemon has read all that was sent, or has closed the connection.
    fileprivate func waitUntilRead() throws {
        var unread: CInt = 0
        repeat {
            try #require(ioctl(self.descriptor, UInt(TIOCOUTQ), &unread) == 0)
            sched_yield()
        } while unread > 0
    }
}
