internal import WaymarkGateway
internal import WaymarkProtocol
internal import Yams

/// Why a configuration file was not taken: nothing of it is used.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var file: String
    /// From 1; 0 when the file as a whole is meant.
    package var line: Int
    package var column: Int
    package var reason: String

    package var description: String { "\(self.file):\(self.line):\(self.column): \(self.reason)" }
}

/// Reads configuration files: YAML, every key known, every value in its range.
package enum Configuration {
    /// Reads the text of a file named `file`.
    package static func read(_ text: String, file: String) throws(ConfigurationError) -> Settings {
        var settings = Settings()
        guard let root = try self.compose(text, file) else { return settings }
        try self.readMapping(root, prefix: "", file, &settings)
        return settings
    }

    private static func compose(_ text: String, _ file: String) throws(ConfigurationError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw self.error(error, file)
        } catch {
            throw ConfigurationError(file: file, line: 0, column: 0, reason: "\(error)")
        }
    }

    private static func error(_ error: YamlError, _ file: String) -> ConfigurationError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            ConfigurationError(file: file, line: mark.line, column: mark.column, reason: problem)
        default: ConfigurationError(file: file, line: 0, column: 0, reason: "\(error)")
        }
    }

    private static func readMapping(
        _ node: Node, prefix: String, _ file: String, _ settings: inout Settings
    ) throws(ConfigurationError) {
        guard let mapping = node.mapping else { throw self.error(node, file, "must be keys and values") }
        var seen: Set<String> = []
        for (keyNode, value) in mapping {
            let key = prefix + (keyNode.string ?? "")
            guard seen.insert(key).inserted else { throw self.error(keyNode, file, "\(key) is there twice") }
            if let setting = Settings.all.first(where: { $0.key == key }) {
                guard setting.set(&settings, ConfigurationValue(node: value)) else {
                    throw self.error(value, file, "\(key) must be \(setting.allowed)")
                }
            } else if key == "listeners" {
                settings.listeners = try self.readListeners(value, file)
            } else if key == "vehicles" {
                settings.policy.vehicleArbitration = try self.readVehicles(value, file)
            } else if Settings.all.contains(where: { $0.key.hasPrefix("\(key).") }) {
                try self.readMapping(value, prefix: "\(key).", file, &settings)
            } else {
                throw self.error(keyNode, file, "\(key) is not a setting")
            }
        }
    }

    private static func readListeners(
        _ node: Node, _ file: String
    ) throws(ConfigurationError) -> [Settings.Listener] {
        guard let entries = node.sequence else { throw self.error(node, file, "listeners must be a list") }
        var listeners: [Settings.Listener] = []
        for entry in entries {
            guard let mapping = entry.mapping else {
                throw self.error(entry, file, "a listener must be keys and values")
            }
            var listener = Settings.Listener(address: "", roles: [])
            for (key, value) in mapping { try self.read(key, value, file, into: &listener) }
            guard !listener.address.isEmpty else {
                throw self.error(entry, file, "a listener needs an address")
            }
            guard !listener.roles.isEmpty else { throw self.error(entry, file, "a listener needs roles") }
            listeners.append(listener)
        }
        return listeners
    }

    private static func read(
        _ key: Node, _ node: Node, _ file: String, into listener: inout Settings.Listener
    ) throws(ConfigurationError) {
        let value = ConfigurationValue(node: node)
        switch key.string {
        case "address":
            guard let text = value.text else {
                throw self.error(node, file, "address must be tcp:HOST:PORT or unix:/path")
            }
            listener.address = text
        case "roles":
            let roles = value.list?.compactMap { name in
                AcceptingSession.Role.allCases.first { "\($0)" == name }
            }
            guard let roles, !roles.isEmpty, roles.count == value.list?.count else {
                throw self.error(node, file, "roles must be a list of vehicle and navigation")
            }
            listener.roles = Set(roles)
        case "key":
            guard let text = value.text, (1...256).contains(text.utf8.count) else {
                throw self.error(node, file, "key must have 1 to 256 bytes")
            }
            listener.key = text
        case "allow-anyone":
            guard let isAllowed = node.bool else {
                throw self.error(node, file, "allow-anyone must be true or false")
            }
            listener.allowAnyone = isAllowed
        default: throw self.error(key, file, "\(key.string ?? "") is not a setting of a listener")
        }
    }

    private static func readVehicles(
        _ node: Node, _ file: String
    ) throws(ConfigurationError) -> [VehicleID: Gateway.Policy.Arbitration] {
        guard let mapping = node.mapping else {
            throw self.error(node, file, "vehicles must be ids and policies")
        }
        var policies: [VehicleID: Gateway.Policy.Arbitration] = [:]
        for (key, value) in mapping {
            guard let id = VehicleID(key.string ?? "") else {
                throw self.error(key, file, "is not a vehicle id")
            }
            guard let policy = Gateway.Policy.Arbitration(rawValue: value.string ?? "") else {
                throw self.error(value, file, "must be refuse, replace or priority")
            }
            policies[id] = policy
        }
        return policies
    }

    private static func error(_ node: Node, _ file: String, _ reason: String) -> ConfigurationError {
        ConfigurationError(
            file: file, line: node.mark?.line ?? 0, column: node.mark?.column ?? 0, reason: reason)
    }
}

/// A value of the file, as the settings read it.
struct ConfigurationValue {
    fileprivate let node: Node

    var text: String? { self.node.scalar?.string }

    /// Texts of a list.
    var list: [String]? {
        guard let sequence = self.node.sequence else { return nil }
        let texts = sequence.compactMap { $0.scalar?.string }
        return texts.count == sequence.count ? texts : nil
    }

    /// A whole number; `KiB` and `MiB` may follow.
    var number: Int? {
        guard var text = self.text else { return nil }
        var factor = 1
        for (unit, size) in [("KiB", 1_024), ("MiB", 1_048_576)] where text.hasSuffix(unit) {
            text.removeLast(3)
            factor = size
        }
        guard let number = Int(text.replacing("_", with: "")) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    /// A whole number of `ms`, `s`, `m` or `h`.
    var duration: Duration? {
        let units: [(String, Int64)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
        for (unit, milliseconds) in units {
            guard let text = self.text, text.hasSuffix(unit), let number = Int64(text.dropLast(unit.count)),
                (0...1_000_000_000).contains(number)
            else { continue }
            return .milliseconds(number * milliseconds)
        }
        return nil
    }
}
