internal import WaymarkGateway
internal import WaymarkProtocol
package import Yams

/// A position in a configuration file.
package struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    package var file: String
    /// Counts from 1; 0 means the whole file.
    package var line: Int
    package var column: Int

    package init(file: String, line: Int, column: Int) {
        (self.file, self.line, self.column) = (file, line, column)
    }

    package var description: String { "\(self.file):\(self.line):\(self.column)" }
}

/// Why a configuration file was rejected. None of its settings are used.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var location: SourceLocation
    package var reason: String

    package init(location: SourceLocation, reason: String) {
        self.location = location
        self.reason = reason
    }

    package var description: String { "\(self.location): \(self.reason)" }
}

extension ConfigurationError {
    /// Why a text is no YAML.
    package init(_ error: YamlError, in text: String, file: String) {
        func location(_ mark: Mark) -> SourceLocation {
            SourceLocation(file: file, line: mark.line, column: mark.column)
        }
        switch error {
        case .scanner(_, _, let mark, _) where Self.isTab(at: mark, in: text):
            self.init(location: location(mark), reason: "a tab cannot indent a line: use spaces")
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            guard let context, context.mark.line < mark.line,
                context.text.contains("flow") || context.text.contains("quoted")
            else {
                self.init(location: location(mark), reason: problem)
                return
            }
            // The cause is where it began; that something else is found in a later line follows from it.
            self.init(
                location: location(context.mark),
                reason: "what begins here does not end: \(problem) (line \(mark.line), column \(mark.column))"
            )
        case .duplicatedKeysInMapping(let keys, let context):
            let key = keys.first ?? ""
            let places = Self.places(of: key, from: context.mark, in: text)
            let first = places.first.map { "; first in line \($0.line)" } ?? ""
            self.init(
                location: places.count > 1
                    ? SourceLocation(file: file, line: places[1].line, column: places[1].column)
                    : location(context.mark),
                reason: "the key \(key) is there twice\(first)")
        case .reader(let problem, let offset, _, _):
            let line = text.utf8.prefix(offset ?? 0).count { $0 == UInt8(ascii: "\n") } + 1
            self.init(location: SourceLocation(file: file, line: line, column: 1), reason: problem)
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            self.init(location: SourceLocation(file: file, line: 0, column: 0), reason: "\(error)")
        }
    }
}

extension ConfigurationError {
    /// Where the first byte is that is not UTF-8.
    package init(notUTF8 bytes: [UInt8], file: String) {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var location = SourceLocation(file: file, line: 1, column: 1)
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) {
            if scalar.first == UInt8(ascii: "\n") {
                location.line += 1
                location.column = 1
            } else {
                location.column += 1
            }
        }
        self.init(location: location, reason: "the file is not valid UTF-8")
    }

    /// Whether the character at a mark is a tab.
    private static func isTab(at mark: Mark, in text: String) -> Bool {
        let lines = text.split(separator: "\n", maxSplits: mark.line, omittingEmptySubsequences: false)
        guard lines.indices.contains(mark.line - 1) else { return false }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first == "\t"
    }

    /// Where a key stands at the indentation of a mapping that begins at a mark: the first two places. None in a mapping within brackets.
    private static func places(of key: String, from mark: Mark, in text: String) -> [(line: Int, column: Int)]
    {
        var found: [(line: Int, column: Int)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where index + 1 >= mark.line && found.count < 2 {
            let rest = line.dropFirst(mark.column - 1)
            guard line.prefix(mark.column - 1).allSatisfy({ $0 == " " || $0 == "-" }), rest.hasPrefix(key),
                rest.dropFirst(key.count).drop(while: { $0 == " " }).first == ":"
            else { continue }
            found.append((index + 1, mark.column))
        }
        return found
    }
}

/// Reads configuration files. They are YAML; unknown keys and values out of range are errors.
package enum Configuration {
    /// Reads the content of a file named `file`.
    package static func read(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> Settings {
        try Self.readFile(bytes, file: file).settings
    }

    /// Reads the content of a file named `file`; `isEmpty` says that it has no key.
    package static func readFile(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> (
        settings: Settings, isEmpty: Bool
    ) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(notUTF8: bytes, file: file)
        }
        return try Self.readFile(text, file: file)
    }

    /// Reads the text of a file named `file`.
    package static func read(_ text: String, file: String) throws(ConfigurationError) -> Settings {
        try Self.readFile(text, file: file).settings
    }

    private static func readFile(_ text: String, file: String) throws(ConfigurationError) -> (
        settings: Settings, isEmpty: Bool
    ) {
        var reader = ConfigurationReader(file: file)
        if let root = try reader.compose(text) { try reader.readMapping(root, prefix: "") }
        try reader.checkCombinations()
        return (reader.settings, reader.locations.isEmpty)
    }
}

/// Reads one file into settings.
struct ConfigurationReader {
    let file: String
    private(set) var settings = Settings()
    /// The locations of the keys in the file.
    private(set) var locations: [String: SourceLocation] = [:]

    init(file: String) { self.file = file }

    func compose(_ text: String) throws(ConfigurationError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw ConfigurationError(error, in: text, file: self.file)
        } catch {
            throw ConfigurationError(
                location: SourceLocation(file: self.file, line: 0, column: 0), reason: "\(error)")
        }
    }

    mutating func readMapping(_ node: Node, prefix: String) throws(ConfigurationError) {
        guard let mapping = node.mapping else {
            throw self.error(
                node,
                prefix.isEmpty
                    ? "the file must be a mapping of settings" : "\(prefix.dropLast()) must be a mapping")
        }
        for (keyNode, value) in mapping {
            let name = keyNode.string ?? ""
            let key = prefix + name
            self.locations[key] = self.location(keyNode.mark)
            if name.contains(".") {  // Sections are nested mappings; dotted keys are not accepted.
                throw self.error(keyNode, "unknown setting \(key)")
            } else if let setting = Settings.all.first(where: { $0.key == key }) {
                guard setting.set(&self.settings, ConfigurationValue(node: value)) else {
                    throw self.error(value, "\(key) must be \(setting.allowed)")
                }
            } else if key == "listeners" {
                self.settings.listeners = try self.readListeners(value)
            } else if key == "rules" {
                self.settings.rules = try self.readRules(value)
            } else if key == "vehicles" {
                self.settings.policy.vehicleArbitration = try self.readVehicles(value)
            } else if Settings.all.contains(where: { $0.key.hasPrefix("\(key).") }) {
                try self.readMapping(value, prefix: "\(key).")
            } else {
                throw self.error(keyNode, "unknown setting \(key)")
            }
        }
    }

    /// Checks settings that constrain each other.
    func checkCombinations() throws(ConfigurationError) {
        try self.checkOutbox()
        try self.checkAccess()
        let (min, max) = (self.settings.connection.keepaliveMin, self.settings.connection.keepaliveMax)
        guard min <= max else {
            throw self.error(
                ["times.keepalive-min", "times.keepalive-max"],
                "times.keepalive-min (\(min)) must be at most times.keepalive-max (\(max))")
        }
        let (idle, grace) = (self.settings.idleExit, self.settings.policy.limits.grace)
        guard idle == .zero || idle >= grace else {
            throw self.error(
                ["times.idle-exit", "times.grace"],
                "times.idle-exit (\(idle)) must be 0s or at least times.grace (\(grace))")
        }
    }

    private func checkOutbox() throws(ConfigurationError) {
        let key = "limits.outbox-bytes"
        let needs = [
            ("limits.retained-bytes", self.settings.policy.limits.retainedBytesMax),
            ("limits.frame-bytes", Int(self.settings.connection.frameBytesMax)),
        ]
        for (other, needed) in needs where self.settings.outbox.bytesMax < needed {
            throw self.error(
                [key, other],
                "\(key) (\(self.settings.outbox.bytesMax)) must be at least \(other) (\(needed))")
        }
    }

    /// Points to the first of these keys that the file contains.
    private func error(_ keys: [String], _ reason: String) -> ConfigurationError {
        let location = keys.lazy.compactMap { self.locations[$0] }.first
        return ConfigurationError(
            location: location ?? SourceLocation(file: self.file, line: 0, column: 0), reason: reason)
    }

    private func readListeners(_ node: Node) throws(ConfigurationError) -> [Settings.Listener] {
        guard let entries = node.sequence else { throw self.error(node, "listeners must be a list") }
        var listeners: [Settings.Listener] = []
        for entry in entries {
            guard let mapping = entry.mapping else {
                throw self.error(entry, "a listener must be a mapping")
            }
            var listener = Settings.Listener(roles: [])
            listener.location = self.location(entry.mark)
            for (key, value) in mapping { try self.read(key, value, into: &listener) }
            guard listener.address != nil || listener.socket != nil else {
                throw self.error(entry, "a listener needs an address or a socket")
            }
            guard !listener.roles.isEmpty else { throw self.error(entry, "a listener needs roles") }
            guard listener.roles.contains(.observer) || listener.visibility == nil else {
                throw self.error(entry, "observe needs the role observer")
            }
            guard !listener.observesWithoutConsent || listener.visibility == .content else {
                throw self.error(entry, "observe-without-consent needs observe: content")
            }
            listeners.append(listener)
        }
        return listeners
    }

    private func read(
        _ key: Node, _ node: Node, into listener: inout Settings.Listener
    ) throws(ConfigurationError) {
        if key.string == "keys" {
            listener.keys = try self.readKeys(node)
            return
        }
        guard let name = key.string, let setting = ListenerSetting.all.first(where: { $0.key == name }) else {
            throw self.error(key, "unknown listener setting \(key.string ?? "")")
        }
        guard setting.set(&listener, ConfigurationValue(node: node)) else {
            throw self.error(node, "\(name) must be \(setting.allowed)")
        }
    }

    private func readVehicles(
        _ node: Node
    ) throws(ConfigurationError) -> [VehicleID: Gateway.Policy.Arbitration] {
        guard let mapping = node.mapping else {
            throw self.error(node, "vehicles must map vehicle ids to arbitration policies")
        }
        var policies: [VehicleID: Gateway.Policy.Arbitration] = [:]
        for (key, value) in mapping {
            guard let id = VehicleID(key.string ?? "") else {
                throw self.error(key, "\(key.string ?? "") is not a vehicle id")
            }
            guard let policy = Gateway.Policy.Arbitration(rawValue: value.string ?? "") else {
                throw self.error(value, "the arbitration policy of \(id) must be refuse, replace or priority")
            }
            policies[id] = policy
        }
        return policies
    }

    func error(_ node: Node, _ reason: String) -> ConfigurationError {
        ConfigurationError(location: self.location(node.mark), reason: reason)
    }

    func location(_ mark: Mark?) -> SourceLocation {
        SourceLocation(file: self.file, line: mark?.line ?? 0, column: mark?.column ?? 0)
    }
}
