internal import WaymarkProtocol

/// One key of a listener in the configuration file.
struct ListenerSetting: Sendable {
    let key: String
    /// The allowed values, for error messages: "KEY must be …".
    let allowed: String
    /// Assigns a value; returns false if it is not allowed.
    let set: @Sendable (inout Settings.Listener, ConfigurationValue) -> Bool

    static let all: [ListenerSetting] = [
        ListenerSetting(key: "address", allowed: "tcp:HOST:PORT or unix:/path") { listener, value in
            guard let text = value.text, !text.isEmpty else { return false }
            listener.address = text
            return true
        },
        ListenerSetting(key: "socket", allowed: "the name of a socket that the service manager passes") {
            listener, value in
            guard let text = value.text, !text.isEmpty else { return false }
            listener.socket = text
            return true
        },
        ListenerSetting(key: "roles", allowed: "a list of roles: vehicle, navigation, observer") {
            listener, value in
            guard let names = value.list, !names.isEmpty else { return false }
            let roles = names.compactMap { name in
                AcceptingSession.Role.allCases.first { "\($0)" == name }
            }
            listener.roles = Set(roles)
            return roles.count == names.count
        },
        ListenerSetting(key: "observe", allowed: "state or content") { listener, value in
            switch value.text {
            case "state": listener.visibility = .state
            case "content": listener.visibility = .content
            default: return false
            }
            return true
        },
        ListenerSetting(key: "observe-without-consent", allowed: "true or false") { listener, value in
            guard let isAllowed = value.bool else { return false }
            listener.observesWithoutConsent = isAllowed
            return true
        },
        ListenerSetting(key: "key", allowed: "a string of 16 to 256 bytes") {
            listener, value in
            guard let text = value.text, Settings.keyBytes.contains(text.utf8.count) else { return false }
            listener.key = text
            return true
        },
        ListenerSetting(key: "allow-anyone", allowed: "true or false") { listener, value in
            guard let isAllowed = value.bool else { return false }
            listener.allowAnyone = isAllowed
            return true
        },
        ListenerSetting(
            key: "mode", allowed: "octal file permissions, with a 0 before three digits, e.g. 0660"
        ) {
            listener, value in
            guard let mode = value.mode else { return false }
            listener.mode = mode
            return true
        },
        ListenerSetting(key: "group", allowed: "the name or number of a group") { listener, value in
            guard let text = value.text, !text.isEmpty else { return false }
            listener.group = text
            return true
        },
    ]
}

extension Settings {
    /// The keys of a listener in the file.
    package static var listenerKeys: [String] { ListenerSetting.all.map(\.key) + ["keys"] }
}
