package import WaymarkAccess
internal import WaymarkProtocol
internal import Yams

extension Settings.Listener {
    /// One named key of a listener.
    package struct Key: Sendable, Hashable {
        /// Rules refer to it. Several keys may have the same name, so that one can replace the other.
        package var name: String
        /// The file that contains the key, as written in the settings.
        package var file: String
        /// nil until the file was read.
        package var digest: KeyDigest?
        package var limits: KeyLimits
        package var location: SourceLocation

        /// The keys of an entry of `keys` in the file.
        package static let settingKeys = ["name", "key-file", "roles", "vehicles", "clients"]
    }
}

extension Settings {
    /// One entry of `rules`, with users and groups as written in the file.
    package struct Rule: Sendable, Hashable {
        package enum Subjects: Sendable, Hashable {
            case anyone
            case users([String])
            case groups([String])
            case keys([String])
        }

        package var subjects = Subjects.anyone
        /// The rest of the rule.
        package var rule: AccessRule
        package var location: SourceLocation

        /// The keys of an entry of `rules` in the file.
        package static let settingKeys = [
            "allow", "refuse", "user", "group", "key", "vehicles", "clients", "priority",
        ]
    }
}

// Reads `keys` of listeners, and `rules`.
extension ConfigurationReader {
    func readKeys(_ node: Node) throws(ConfigurationError) -> [Settings.Listener.Key] {
        guard let entries = node.sequence, !entries.isEmpty else {
            throw self.error(node, "keys must be a list of keys, each with a name and a key-file")
        }
        var keys: [Settings.Listener.Key] = []
        for entry in entries { keys.append(try self.readKey(entry)) }
        return keys
    }

    private func readKey(_ node: Node) throws(ConfigurationError) -> Settings.Listener.Key {
        guard let mapping = node.mapping else {
            throw self.error(node, "a key must be a mapping with name and key-file")
        }
        let location = SourceLocation(node.mark, file: self.file)
        var limits = KeyLimits(origin: AccessOrigin(file: location.file, line: location.line))
        var (name, file): (String?, String?)
        for (keyNode, valueNode) in mapping {
            let value = ConfigurationValue(node: valueNode)
            switch keyNode.string {
            case "name":
                guard let text = value.text, Self.isKeyName(text) else {
                    throw self.error(
                        valueNode, "name must be 1 to 64 printable ASCII characters without spaces")
                }
                name = text
            case "key-file":
                guard let text = value.text, !text.isEmpty, !text.utf8.contains(0) else {
                    throw self.error(valueNode, "key-file must be the path of a file")
                }
                file = text
            case "roles": limits.roles = try self.readRoles(valueNode, "roles")
            case "vehicles": limits.vehicles = try self.readGlobs(valueNode, "vehicles")
            case "clients": limits.clients = try self.readGlobs(valueNode, "clients")
            case let other: throw self.error(keyNode, "unknown setting of a key: \(other ?? "")")
            }
        }
        guard let name else { throw self.error(node, "a key needs a name") }
        guard let file else { throw self.error(node, "the key \(name) needs a key-file") }
        return Settings.Listener.Key(name: name, file: file, limits: limits, location: location)
    }

    private static func isKeyName(_ text: String) -> Bool {
        (1...ProtocolConstants.nameBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) }
    }

    func readRules(_ node: Node) throws(ConfigurationError) -> [Settings.Rule] {
        guard let entries = node.sequence else { throw self.error(node, "rules must be a list of rules") }
        var rules: [Settings.Rule] = []
        for entry in entries { rules.append(try self.readRule(entry)) }
        return rules
    }

    private func readRule(_ node: Node) throws(ConfigurationError) -> Settings.Rule {
        guard let mapping = node.mapping else { throw self.error(node, "a rule must be a mapping") }
        let location = SourceLocation(node.mark, file: self.file)
        var verdict: (isAllowed: Bool, roles: Set<AccessRole>)?
        var subjects = Settings.Rule.Subjects.anyone
        var rule = AccessRule(
            allow: false, [], origin: AccessOrigin(file: location.file, line: location.line))
        for (keyNode, valueNode) in mapping {
            let name = keyNode.string ?? ""
            switch name {
            case "allow", "refuse":
                guard verdict == nil else { throw self.error(node, Self.verdictNeeded) }
                verdict = (name == "allow", try self.readRoles(valueNode, name))
            case "user", "group", "key":
                guard subjects == .anyone else {
                    throw self.error(keyNode, "a rule has at most one of user, group and key")
                }
                subjects = try self.readSubjects(valueNode, name)
            case "vehicles": rule.vehicles = try self.readGlobs(valueNode, name)
            case "clients": rule.clients = try self.readGlobs(valueNode, name)
            case "priority":
                guard let number = ConfigurationValue(node: valueNode).number,
                    ProtocolConstants.priority.contains(Int32(clamping: number))
                else { throw self.error(valueNode, "priority must be an integer, -1000 to 1000") }
                rule.priorityMax = Int32(clamping: number)
            default: throw self.error(keyNode, "unknown setting of a rule: \(name)")
            }
        }
        guard let verdict else { throw self.error(node, Self.verdictNeeded) }
        (rule.isAllowed, rule.roles) = verdict
        guard rule.roles.contains(where: \.concernsClients) || rule.clients == nil else {
            throw self.error(node, "clients apply only to the roles navigation and simulate")
        }
        guard rule.roles.contains(.navigation) || rule.priorityMax == nil else {
            throw self.error(node, "priority applies only to the role navigation")
        }
        guard rule.isAllowed || rule.priorityMax == nil else {
            throw self.error(node, "priority applies only to a rule with allow")
        }
        rule.text = Self.text(of: rule, subjects)
        return Settings.Rule(subjects: subjects, rule: rule, location: location)
    }

    private static let verdictNeeded = "a rule needs either allow or refuse, with a list of roles"

    private func readSubjects(
        _ node: Node, _ name: String
    ) throws(ConfigurationError) -> Settings.Rule.Subjects {
        guard let texts = ConfigurationValue(node: node).texts, !texts.isEmpty, !texts.contains("") else {
            let what = name == "key" ? "the name of a key" : "the name or number of a \(name)"
            throw self.error(node, "\(name) must be \(what), or a list of them")
        }
        switch name {
        case "user": return .users(texts)
        case "group": return .groups(texts)
        default: return .keys(texts)
        }
    }

    private func readRoles(_ node: Node, _ name: String) throws(ConfigurationError) -> Set<AccessRole> {
        let texts = ConfigurationValue(node: node).texts ?? []
        let roles = texts.compactMap { AccessRole(rawValue: $0) }
        guard !roles.isEmpty, roles.count == texts.count else {
            throw self.error(node, "\(name) must be a list of roles: vehicle, navigation, observer, simulate")
        }
        return Set(roles)
    }

    private func readGlobs(_ node: Node, _ name: String) throws(ConfigurationError) -> GlobList {
        let texts = ConfigurationValue(node: node).texts ?? []
        let globs = texts.compactMap { Glob($0) }
        guard !globs.isEmpty, globs.count == texts.count else {
            throw self.error(
                node, "\(name) must be a list of ids, in which * stands for any characters and ? for one")
        }
        return GlobList(globs)
    }

    /// For messages: "allow navigation, user phone, vehicles bus-*".
    private static func text(of rule: AccessRule, _ subjects: Settings.Rule.Subjects) -> String {
        let roles = AccessRole.allCases.filter(rule.roles.contains).map(\.rawValue)
        var parts = ["\(rule.isAllowed ? "allow" : "refuse") \(roles.joined(separator: " "))"]
        switch subjects {
        case .anyone: break
        case .users(let names): parts.append("user \(names.joined(separator: " "))")
        case .groups(let names): parts.append("group \(names.joined(separator: " "))")
        case .keys(let names): parts.append("key \(names.joined(separator: " "))")
        }
        for (name, globs) in [("vehicles", rule.vehicles), ("clients", rule.clients)] {
            guard let globs else { continue }
            parts.append("\(name) \(globs.globs.map(\.description).joined(separator: " "))")
        }
        if let priority = rule.priorityMax { parts.append("priority \(priority)") }
        return parts.joined(separator: ", ")
    }

    /// Checks that keys with one name have the same limits, and that rules name keys that exist.
    func checkAccess() throws(ConfigurationError) {
        var named: [String: Settings.Listener.Key] = [:]
        for key in self.settings.listeners.flatMap(\.keys) {
            guard let other = named[key.name] else {
                named[key.name] = key
                continue
            }
            guard other.limits.isEqual(to: key.limits) else {
                throw ConfigurationError(
                    location: key.location,
                    reason:
                        "the key \(key.name) has other roles, vehicles or clients at line \(other.location.line)"
                )
            }
        }
        let inline = self.settings.listeners.filter { $0.key != nil }.map(\.name)
        for rule in self.settings.rules {
            guard case .keys(let names) = rule.subjects else { continue }
            for name in names where named[name] == nil && !inline.contains(name) {
                throw ConfigurationError(
                    location: rule.location, reason: "no listener has a key named \(name)")
            }
        }
    }
}
