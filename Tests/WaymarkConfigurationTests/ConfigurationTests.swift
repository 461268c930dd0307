import Foundation
import Testing
import WaymarkAccess
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
        #expect(settings.listeners.count == 4)
        #expect(settings.listeners.map(\.visibility) == [nil, nil, .content, nil])
        #expect(settings.policy.vehicleArbitration == [VehicleID(unchecked: "bus-7"): .priority])
        #expect(settings.connectionsMax == 2_000)
        #expect(settings.policy.limits.grace == .seconds(60))
    }

    @Test func `the package has a socket unit, a listener and a group for each role`() throws {
        let folder = Self.page.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "systemd")
        func text(_ file: String) throws -> String {
            try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        }
        let settings = try Configuration.read(text("waymarkd.yaml"), file: "waymarkd.yaml")
        #expect(settings.listeners.map(\.roles) == [[.vehicle], [.navigation], [.observer]])
        #expect(settings.listeners[2].visibility == .state)
        #expect(!settings.listeners[2].observesWithoutConsent)
        let names = try settings.listeners.map { try #require($0.socket) }
        let service = try text("waymarkd.service")
        #expect(service.contains("\nSockets=\(names.map { "\($0).socket" }.joined(separator: " "))\n"))
        for name in names {
            let unit = try text("\(name).socket")
            let group = name.replacing("waymarkd-", with: "waymark-")
            #expect(unit.contains("\nFileDescriptorName=\(name)\n"))
            #expect(unit.contains("\nSocketGroup=\(group)\nSocketMode=0660\n"))
            #expect(try text("waymark.sysusers").contains("\ng \(group) -\n"))
        }
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
        (
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    observe: content\n", 2,
            "observe needs the role observer"
        ),
        (
            "listeners:\n  - address: unix:/a\n    roles: [observer]\n    observe: all\n", 4,
            "observe must be state or content"
        ),
        (
            "listeners:\n  - address: unix:/a\n    roles: [observer]\n    observe-without-consent: true\n", 2,
            "observe-without-consent needs observe: content"
        ),
        ("vehicles:\n  car: never\n", 2, "must be refuse"),
        ("vehicles:\n  ca r: refuse\n", 2, "ca r is not a vehicle id"),
        ("a: [\n", 2, "did not find"),
        (
            "threads: 1\nlimits:\n  errors: 1\n  errors: 2\n", 4,
            "the key errors is there twice; first in line 3"
        ),
        (
            "vehicles:\n  1: refuse\n  \"1\": replace\n", 3,
            "the key 1 is there twice; first in line 2"
        ),
        ("limits:\n\terrors: 1\n", 2, "a tab cannot indent a line: use spaces"),
        (
            "rules: &a [x, x]\nvehicles: &b [*a, *a]\nlimits: [*b, *b]\n", 1,
            "anchors and aliases are not allowed: a file of settings has no templates"
        ),
        (
            "threads: 1\nrules: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n", 2,
            "a file of settings has at most 16 levels"
        ),
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
        ("instance: hall 3\n", 1, "instance must be 1 to 64 of the characters"),
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

    static let listener = "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    keys:\n"

    static let wrongAccess: [(String, Int, String)] = [
        ("rules: all\n", 1, "rules must be a list"), ("rules:\n  - allow\n", 2, "a rule must be a mapping"),
        ("rules:\n  - user: root\n", 2, "a rule needs either allow or refuse"),
        ("rules:\n  - {allow: vehicle, refuse: navigation}\n", 2, "a rule needs either allow or refuse"),
        (
            "rules:\n  - allow: driver\n", 2,
            "allow must be a list of roles: vehicle, navigation, observer, simulate"
        ),
        ("rules:\n  - allow: []\n", 2, "allow must be a list of roles"),
        ("rules:\n  - {allow: vehicle, user: a, group: b}\n", 2, "at most one of user, group and key"),
        ("rules:\n  - {allow: vehicle, user: }\n", 2, "user must be the name or number of a user"),
        ("rules:\n  - {allow: vehicle, vehicles: [bus/7]}\n", 2, "vehicles must be a list of ids"),
        ("rules:\n  - {allow: vehicle, vehicles: []}\n", 2, "vehicles must be a list of ids"),
        ("rules:\n  - {allow: vehicle, clients: a}\n", 2, "apply only to the roles navigation and simulate"),
        ("rules:\n  - {allow: simulate, priority: 1}\n", 2, "applies only to the role navigation"),
        ("rules:\n  - {refuse: navigation, priority: 1}\n", 2, "priority applies only to a rule with allow"),
        ("rules:\n  - {allow: navigation, priority: 1001}\n", 2, "an integer, -1000 to 1000"),
        ("rules:\n  - {allow: navigation, colour: red}\n", 2, "unknown setting of a rule: colour"),
        ("rules:\n  - {allow: vehicle, key: fleet}\n", 2, "no listener has a key named fleet"),
        (Self.listener + "      - {key-file: a}\n", 5, "a key needs a name"),
        (Self.listener + "      - {name: a}\n", 5, "the key a needs a key-file"),
        (Self.listener + "      - {name: a b, key-file: a}\n", 5, "without spaces"),
        (Self.listener + "      - {name: a, key-file: a, mode: 1}\n", 5, "unknown setting of a key: mode"),
        (
            Self.listener + "      - {name: a, key-file: a}\n      - {name: a, key-file: b, vehicles: x}\n",
            6,
            "the key a has other roles, vehicles or clients at line 5"
        ),
    ]

    @Test(arguments: wrongAccess.indices)
    func `an error in rules or keys names the line and the reason`(_ index: Int) throws {
        let (text, line, reason) = Self.wrongAccess[index]
        let error = try #require(throws: ConfigurationError.self, "\(text)") {
            try Configuration.read(text, file: "f.yaml")
        }
        #expect(error.location.line == line, "\(error)")
        #expect(error.reason.contains(reason), "\(error)")
    }

    @Test func `all examples of the documentation are valid`() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let examples = page.matches(of: /```yaml\n([\s\S]*?)```/).map { String($0.1) }
        #expect(examples.count == 3)
        // The rules refer to a key of the example before.
        let settings = try Configuration.read(examples[1] + examples[2], file: "example")
        #expect(settings.listeners.first?.keys.map(\.name) == ["fleet", "workshop"])
        #expect(settings.rules.count == 7)
        #expect(
            settings.rules[1].rule.text
                == "allow navigation, user phone 1001, vehicles bus-*, clients phone-*, priority 10")
        #expect(settings.rules[1].rule.origin.line == examples[1].split(separator: "\n").count + 3)
    }

    @Test func `a key of digits is a text`() throws {
        let settings = try Configuration.read(
            "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n    key: 0123456789012345\n    mode: 0660\n",
            file: "f")
        #expect(settings.listeners.first?.key == "0123456789012345")
        #expect(settings.listeners.first?.mode == 0o660)
    }

    @Test func `a byte order mark is skipped`() throws {
        let settings = try Configuration.read(
            Array("\u{FEFF}threads: 2\nlog-level: debug\n".utf8), file: "f")
        #expect(settings.threads == 2)
        #expect(settings.logLevel == "debug")
    }

    @Test func `a file of more than 16 MiB is an error`() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try Configuration.read("#" + String(repeating: "x", count: 16 << 20), file: "f")
        }
        #expect("\(error)" == "f:1:1: a file of settings has at most 16 MiB")
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
