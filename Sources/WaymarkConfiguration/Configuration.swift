internal import WaymarkGateway
internal import WaymarkProtocol
internal import Yams

/// A place in a configuration file.
package struct FilePlace: Sendable, Hashable, CustomStringConvertible {
    package var file: String
    /// From 1; 0 when the file as a whole is meant.
    package var line: Int
    package var column: Int

    package var description: String { "\(self.file):\(self.line):\(self.column)" }
}

/// Why a configuration file was not taken: nothing of it is used.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var place: FilePlace
    package var reason: String

    package var description: String { "\(self.place): \(self.reason)" }
}

/// Reads configuration files: YAML, every key known, every value in its range.
package enum Configuration {
    /// Reads the content of a file named `file`.
    package static func read(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> Settings {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(
                place: Self.firstInvalidPlace(bytes, file), reason: "this is not UTF-8 text")
        }
        return try Self.read(text, file: file)
    }

    /// Where the first byte is that does not belong to UTF-8.
    private static func firstInvalidPlace(_ bytes: [UInt8], _ file: String) -> FilePlace {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var place = FilePlace(file: file, line: 1, column: 1)
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) {
            if scalar.first == UInt8(ascii: "\n") {
                place.line += 1
                place.column = 1
            } else {
                place.column += 1
            }
        }
        return place
    }

    /// Reads the text of a file named `file`.
    package static func read(_ text: String, file: String) throws(ConfigurationError) -> Settings {
        var reader = ConfigurationReader(file: file)
        if let root = try reader.compose(text) { try reader.readMapping(root, prefix: "") }
        try reader.checkTogether()
        return reader.settings
    }
}

/// One file as it is read.
private struct ConfigurationReader {
    let file: String
    private(set) var settings = Settings()
    /// Where settings stand that the file has.
    private var places: [String: FilePlace] = [:]

    init(file: String) { self.file = file }

    func compose(_ text: String) throws(ConfigurationError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw self.error(error, text)
        } catch {
            throw ConfigurationError(
                place: FilePlace(file: self.file, line: 0, column: 0), reason: "\(error)")
        }
    }

    private func error(_ error: YamlError, _ text: String) -> ConfigurationError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ConfigurationError(place: self.place(mark), reason: problem)
        case .duplicatedKeysInMapping(let keys, let context):
            ConfigurationError(
                place: self.place(context.mark),
                reason: "in what begins here, \(keys.joined(separator: ", ")) is there twice")
        case .reader(let problem, let offset, _, _):
            ConfigurationError(
                place: FilePlace(
                    file: self.file,
                    line: text.utf8.prefix(offset ?? 0).count { $0 == UInt8(ascii: "\n") } + 1,
                    column: 1),
                reason: problem)
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            ConfigurationError(place: FilePlace(file: self.file, line: 0, column: 0), reason: "\(error)")
        }
    }

    mutating func readMapping(_ node: Node, prefix: String) throws(ConfigurationError) {
        guard let mapping = node.mapping else {
            throw self.error(
                node,
                prefix.isEmpty
                    ? "settings must be keys and values" : "\(prefix.dropLast()) must have keys and values")
        }
        for (keyNode, value) in mapping {
            let name = keyNode.string ?? ""
            let key = prefix + name
            self.places[key] = self.place(keyNode.mark)
            if name.contains(".") {  // Sections are nested, not spelled out.
                throw self.error(keyNode, "\(key) is not a setting")
            } else if let setting = Settings.all.first(where: { $0.key == key }) {
                guard setting.set(&self.settings, ConfigurationValue(node: value)) else {
                    throw self.error(value, "\(key) must be \(setting.allowed)")
                }
            } else if key == "listeners" {
                self.settings.listeners = try self.readListeners(value)
            } else if key == "vehicles" {
                self.settings.policy.vehicleArbitration = try self.readVehicles(value)
            } else if Settings.all.contains(where: { $0.key.hasPrefix("\(key).") }) {
                try self.readMapping(value, prefix: "\(key).")
            } else {
                throw self.error(keyNode, "\(key) is not a setting")
            }
        }
    }

    /// What must hold between settings.
    func checkTogether() throws(ConfigurationError) {
        try self.checkOutbox()
        let (idle, grace) = (self.settings.idleExit, self.settings.policy.limits.grace)
        guard idle == .zero || idle >= grace else {
            throw self.error(
                ["times.idle-exit", "times.grace"],
                "times.idle-exit (\(idle)) must not be below times.grace (\(grace)), or 0s")
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
                "\(key) (\(self.settings.outbox.bytesMax)) must not be below \(other) (\(needed))")
        }
    }

    /// At the first of these settings that the file has.
    private func error(_ keys: [String], _ reason: String) -> ConfigurationError {
        let place = keys.lazy.compactMap { self.places[$0] }.first
        return ConfigurationError(
            place: place ?? FilePlace(file: self.file, line: 0, column: 0), reason: reason)
    }

    private func readListeners(_ node: Node) throws(ConfigurationError) -> [Settings.Listener] {
        guard let entries = node.sequence else { throw self.error(node, "listeners must be a list") }
        var listeners: [Settings.Listener] = []
        for entry in entries {
            guard let mapping = entry.mapping else {
                throw self.error(entry, "a listener must be keys and values")
            }
            var listener = Settings.Listener(roles: [])
            listener.place = self.place(entry.mark)
            for (key, value) in mapping { try self.read(key, value, into: &listener) }
            guard listener.address != nil || listener.socket != nil else {
                throw self.error(entry, "a listener needs an address or a socket")
            }
            guard !listener.roles.isEmpty else { throw self.error(entry, "a listener needs roles") }
            listeners.append(listener)
        }
        return listeners
    }

    private func read(
        _ key: Node, _ node: Node, into listener: inout Settings.Listener
    ) throws(ConfigurationError) {
        guard let name = key.string, let setting = ListenerSetting.all.first(where: { $0.key == name }) else {
            throw self.error(key, "\(key.string ?? "") is not a setting of a listener")
        }
        guard setting.set(&listener, ConfigurationValue(node: node)) else {
            throw self.error(node, "\(name) must be \(setting.allowed)")
        }
    }

    private func readVehicles(
        _ node: Node
    ) throws(ConfigurationError) -> [VehicleID: Gateway.Policy.Arbitration] {
        guard let mapping = node.mapping else { throw self.error(node, "vehicles must be ids and policies") }
        var policies: [VehicleID: Gateway.Policy.Arbitration] = [:]
        for (key, value) in mapping {
            guard let id = VehicleID(key.string ?? "") else {
                throw self.error(key, "\(key.string ?? "") is not a vehicle id")
            }
            guard let policy = Gateway.Policy.Arbitration(rawValue: value.string ?? "") else {
                throw self.error(value, "the policy of \(id) must be refuse, replace or priority")
            }
            policies[id] = policy
        }
        return policies
    }

    private func error(_ node: Node, _ reason: String) -> ConfigurationError {
        ConfigurationError(place: self.place(node.mark), reason: reason)
    }

    private func place(_ mark: Mark?) -> FilePlace {
        FilePlace(file: self.file, line: mark?.line ?? 0, column: mark?.column ?? 0)
    }
}
