import Foundation
import Testing
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkProtocol
import WaymarkTransport

@Suite struct CheckTests {
    static let wrong: [(listeners: String, expected: String)] = [
        (
            "- address: tcp:::1:80\n    roles: [vehicle]",
            "f:2:5: tcp:::1:80: invalid address: an IPv6 address must be in brackets, e.g. tcp:[::1]:7227"
        ),
        (
            "- address: unix:/a\n    roles: [vehicle]\n  - address: tcp:0.0.0.0:1\n    roles: [vehicle]",
            "f:4:5: tcp:0.0.0.0:1: can be reached from other machines; give the listener a key, "
                + "or set allow-anyone: true"
        ),
        (
            "- address: unix:/a\n    roles: [vehicle]\n  - address: unix:/a\n    roles: [navigation]",
            "f:4:5: unix:/a: conflicts with the listener on unix:/a"
        ),
        (
            "- address: tcp:127.0.0.1:1\n    roles: [vehicle]\n    mode: 0660",
            "f:2:5: tcp:127.0.0.1:1: mode and group apply only to Unix sockets that the daemon opens"
        ),
        (
            "- address: unix:/a\n    roles: [vehicle]\n    group: no-such-group",
            "f:2:5: unix:/a: there is no group no-such-group"
        ),
    ]

    @Test(arguments: wrong.indices)
    func `a check reports the same errors as a start, with their location`(_ index: Int) async throws {
        let (listeners, expected) = Self.wrong[index]
        let settings = try Configuration.read("listeners:\n  \(listeners)\n", file: "f")
        let found = try #require(throws: DaemonError.self) { try Daemon.check(settings) }
        #expect("\(found)" == expected)
        await #expect(throws: found) { _ = try await Daemon.start(settings, logger: LogRecorder().logger) }
    }

    @Test func `a key or allow-anyone lets a listener accept connections from other machines`() throws {
        for word in ["key: a secret that is long", "allow-anyone: true"] {
            let settings = try Configuration.read(
                "listeners:\n  - address: tcp:0.0.0.0:1\n    roles: [vehicle]\n    \(word)\n", file: "f")
            try Daemon.check(settings)
        }
    }

    @Test func `a check opens nothing`() throws {
        let folder = try Folder()
        var settings = Settings()
        settings.listeners = [.init(address: "unix:\(folder.path("socket"))", roles: [.vehicle])]
        try Daemon.check(settings)
        #expect(folder.status("socket") == nil)
    }
}

@Suite struct PrivateFolderTests {
    @Test func `the folder is created with mode 0700`() throws {
        let folder = try Folder()
        #expect(try !PrivateFolder.check(folder.path("waymark")))
        try PrivateFolder.make(folder.path("waymark"))
        #expect(folder.status("waymark").map { $0.st_mode & 0o777 } == 0o700)
        try PrivateFolder.make(folder.path("waymark"))
        #expect(try PrivateFolder.check(folder.path("waymark")))
    }

    @Test(arguments: [mode_t(0o770), 0o707, 0o777, 0o1777])
    func `a folder that other users can write to is refused`(_ mode: mode_t) throws {
        let folder = try Folder()
        try PrivateFolder.make(folder.path("waymark"))
        chmod(folder.path("waymark"), mode)
        #expect(throws: DaemonError.self) { try PrivateFolder.make(folder.path("waymark")) }
        #expect(throws: DaemonError.self) { try PrivateFolder.check(folder.path("waymark")) }
    }

    @Test func `a link, a file and another user's folder are refused`() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path("real"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        symlink(folder.path("real"), folder.path("link"))
        try Data().write(to: URL(filePath: folder.path("file")))
        for name in ["link", "file"] {
            #expect(throws: DaemonError.self, "\(name)") { try PrivateFolder.check(folder.path(name)) }
        }
        // Only root can change the owner; for other users `/` belongs to another user.
        let foreign = getuid() == 0 ? folder.path("real") : "/"
        if getuid() == 0 { chown(foreign, 65_534, 65_534) }
        #expect(throws: DaemonError.self) { try PrivateFolder.check(foreign) }
    }
}
