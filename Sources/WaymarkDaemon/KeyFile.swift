internal import Glibc
internal import ProcessIO
internal import WaymarkAccess
internal import WaymarkConfiguration
internal import WaymarkProtocol

/// Reads the files that contain the keys of listeners.
enum KeyFile {
    /// Stands for the folder of the credentials that the service manager passes, as in `LoadCredential=`.
    private static let credentials = "$CREDENTIALS_DIRECTORY"
    /// Far more than a key may have; a larger file is not read to its end.
    private static let fileBytesMax = 1_048_576

    /// The folder of a configuration file, to which relative paths of keys refer.
    static func folder(of file: String) -> String {
        file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    }

    /// Reads the file of every key in the settings.
    static func readAll(of settings: inout Settings, folder: String) throws(ConfigurationError) {
        for listener in settings.listeners.indices {
            for index in settings.listeners[listener].keys.indices {
                let key = settings.listeners[listener].keys[index]
                do throws(Unusable) {
                    settings.listeners[listener].keys[index].digest = try Self.read(
                        Self.path(of: key.file, folder))
                } catch {
                    throw ConfigurationError(
                        location: key.location, reason: "cannot use the key file \(key.file): \(error.reason)"
                    )
                }
            }
        }
    }

    private struct Unusable: Error { let reason: String }

    /// Absolute, a credential, or relative to the configuration file.
    private static func path(of file: String, _ folder: String) throws(Unusable) -> String {
        if file.hasPrefix("/") { return file }
        guard file.hasPrefix("\(Self.credentials)/") else { return folder + file }
        guard let credentials = unsafe getenv("CREDENTIALS_DIRECTORY") else {
            throw Unusable(
                reason: "CREDENTIALS_DIRECTORY is not set; the service manager sets it for its services")
        }
        return unsafe String(cString: credentials) + file.dropFirst(Self.credentials.count)
    }

    /// The digest of the key in a file, without the line break at its end.
    private static func read(_ path: String) throws(Unusable) -> KeyDigest {
        let content: FileContent
        do throws(FileError) {
            content = try FileContent(path: path, bytesMax: Self.fileBytesMax)
        } catch {
            throw Unusable(reason: "\(error)")
        }
        defer { Wiping.wipeShared(content.bytes[...]) }
        var key = content.bytes[...]
        if key.last == UInt8(ascii: "\n") { key.removeLast() }
        if key.last == UInt8(ascii: "\r"), key.count < content.bytes.count { key.removeLast() }
        guard !key.isEmpty else { throw Unusable(reason: "it is empty") }
        let (min, max) = (Settings.keyBytes.lowerBound, Settings.keyBytes.upperBound)
        guard Settings.keyBytes.contains(key.count) else {
            throw Unusable(reason: "a key has \(min) to \(max) bytes, this one \(key.count)")
        }
        guard !content.isReadableByAll else {
            throw Unusable(reason: "every user can read it; run chmod o-r")
        }
        return unsafe KeyDigest(of: key.span.bytes)
    }
}

extension Settings {
    /// The rules with the numbers of their users and groups, and the limits of all keys.
    func resolvedAccess() throws(ConfigurationError) -> AccessPolicy {
        var rules: [AccessRule] = []
        for rule in self.rules {
            var resolved = rule.rule
            switch rule.subjects {
            case .anyone: resolved.subjects = .anyone
            case .users(let names):
                resolved.subjects = .users(
                    try Self.numbers(of: names, "user", rule.location) { Account.user($0) })
            case .groups(let names):
                resolved.subjects = .groups(
                    try Self.numbers(of: names, "group", rule.location) { Account.group($0) })
            case .keys(let names): resolved.subjects = .keys(Set(names))
            }
            rules.append(resolved)
        }
        var limits: [String: KeyLimits] = [:]
        for key in self.listeners.flatMap(\.keys)
        where key.limits.roles != nil || key.limits.vehicles != nil || key.limits.clients != nil {
            limits[key.name] = key.limits
        }
        return AccessPolicy(rules: rules, keys: limits)
    }

    private static func numbers(
        of names: [String], _ kind: String, _ location: SourceLocation, _ number: (String) -> UInt32?
    ) throws(ConfigurationError) -> Set<UInt32> {
        var numbers: Set<UInt32> = []
        for name in names {
            guard let number = number(name) else {
                throw ConfigurationError(location: location, reason: "there is no \(kind) \(name)")
            }
            numbers.insert(number)
        }
        return numbers
    }
}
