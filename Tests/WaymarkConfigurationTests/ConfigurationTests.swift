import Foundation
import Testing
import WaymarkConfiguration
import WaymarkGateway
import WaymarkProtocol

@Suite struct ConfigurationTests {
    static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/configuration.md")

    @Test func `the example of the documentation is valid`() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let example = try #require(text.firstMatch(of: /```yaml\n([\s\S]*?)```/)?.1)
        let settings = try Configuration.read(String(example), file: "example")
        #expect(settings.listeners.count == 3)
        #expect(settings.policy.vehicleArbitration == [VehicleID(unchecked: "bus-7"): .priority])
        #expect(settings.connectionsMax == 2_000)
        #expect(settings.policy.limits.grace == .seconds(60))
    }

    @Test func `an empty file means the defaults`() throws {
        #expect(try Configuration.read("", file: "f") == Settings())
        #expect(try Configuration.read("# nothing\n", file: "f") == Settings())
    }

    static let wrong: [(String, Int, String)] = [
        ("log-level: info\nlimit: 3\n", 2, "unknown setting limit"),
        ("limits:\n  connections: many\n", 2, "limits.connections must be"),
        ("limits:\n  connections: 0\n", 2, "limits.connections must be"),
        ("times:\n  grace: 30\n", 2, "times.grace must be a duration"),
        ("arbitration: maybe\n", 1, "arbitration must be refuse, replace or priority"),
        ("listeners:\n  - address: unix:/a\n", 2, "a listener needs roles"),
        ("listeners:\n  - roles: [vehicle]\n", 2, "a listener needs an address or a socket"),
        ("times:\n  idle-exit: 29s\n", 2, "must be 0s or at least times.grace"),
        ("times:\n  grace: 2m\n  idle-exit: 1m\n", 3, "must be 0s or at least times.grace"),
        ("listeners:\n  - address: unix:/a\n    roles: [driver]\n", 3, "roles must be"),
        ("vehicles:\n  car: never\n", 2, "must be refuse"),
        ("vehicles:\n  ca r: refuse\n", 2, "ca r is not a vehicle id"),
        ("a: [\n", 2, "did not find"),
        ("threads: 1\nlimits:\n  errors: 1\n  errors: 2\n", 3, "duplicate keys in this mapping: errors"),
        ("limits.errors: 1\n", 1, "unknown setting limits.errors"),
        ("limits: 3\n", 1, "limits must be a mapping"),
        ("limits:\n  outbox-bytes: 1MiB\n", 2, "must be at least limits.retained-bytes"),
        ("limits:\n  retained-bytes: 64MiB\n", 2, "must be at least limits.retained-bytes"),
        ("listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    mode: 0888\n", 4, "mode must be"),
        ("listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    mode: 01777\n", 4, "mode must be"),
        (
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    mode: 432\n", 4,
            "with a 0 before three digits"
        ),
        (
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    mode: 660\n", 4,
            "with a 0 before three digits"
        ),
        (
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    key: null\n", 4,
            "key must be a string"
        ),
        ("listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    key: ~\n", 4, "key must be a string"),
        ("listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    key:\n", 4, "key must be a string"),
        ("listeners:\n  - socket: null\n    roles: [vehicle]\n", 2, "socket must be"),
        ("route-sharing-vehicles: [car, null]\n", 1, "route-sharing-vehicles must be"),
        ("listeners:\n  - address: unix:/a\n    colour: red\n", 3, "unknown listener setting colour"),
        ("log-level: loud\n", 1, "log-level must be trace"),
        ("times:\n  drain: 601s\n", 2, "times.drain must be a duration such as 500ms, 30s or 5m, 0s to 600s"),
    ]

    @Test(arguments: wrong.indices)
    func `an error names the line and the reason`(_ index: Int) {
        let (text, line, reason) = Self.wrong[index]
        do throws(ConfigurationError) {
            _ = try Configuration.read(text, file: "f.yaml")
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.location.line == line, "\(error)")
            #expect(error.reason.contains(reason), "\(error)")
            #expect("\(error)".hasPrefix("f.yaml:\(line):"))
        }
    }

    @Test func `a key in quotes may be null`() throws {
        let settings = try Configuration.read(
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    key: \"null\"\n    mode: 0660\n",
            file: "f")
        #expect(settings.listeners.first?.key == "null")
        #expect(settings.listeners.first?.mode == 0o660)
    }

    @Test func `the error for invalid UTF-8 names the line and the column`() throws {
        for bytes: [UInt8] in [[0xFF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0x80]] {
            let error = try #require(throws: ConfigurationError.self) {
                _ = try Configuration.read(Array("threads: 1\n# \u{20AC} ".utf8) + bytes, file: "f")
            }
            #expect("\(error)" == "f:2:5: the file is not valid UTF-8")
        }
        #expect(try Configuration.read(Array("threads: 2\n".utf8), file: "f").threads == 2)
    }
}
