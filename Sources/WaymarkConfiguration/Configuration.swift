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
    /// The place of the first byte that is not UTF-8.
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

    /// Composes the text of a file named `file`. Returns nil if it is empty.
    package static func compose(_ text: String, file: String) throws(ConfigurationError) -> Node? {
        try StrictYAML.compose(text, file: file, what: "a file of settings", mebibytes: 16)
    }

    private static func readFile(_ text: String, file: String) throws(ConfigurationError) -> (
        settings: Settings, isEmpty: Bool
    ) {
        var reader = ConfigurationReader(file: file)
        if let root = try Self.compose(text, file: file) { try reader.readMapping(root, prefix: "") }
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
            self.locations[key] = SourceLocation(keyNode.mark, file: self.file)
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
            listener.location = SourceLocation(entry.mark, file: self.file)
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
        ConfigurationError(location: SourceLocation(node.mark, file: self.file), reason: reason)
    }
}
