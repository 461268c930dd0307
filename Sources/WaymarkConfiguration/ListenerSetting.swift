internal import WaymarkProtocol

/// One key of a listener in the configuration file.
struct ListenerSetting: Sendable {
    let key: String
    /// What is allowed, in words.
    let allowed: String
    /// Takes a value over; false if it is not allowed.
    let set: @Sendable (inout Settings.Listener, ConfigurationValue) -> Bool

    static let all: [ListenerSetting] = [
        ListenerSetting(key: "address", allowed: "tcp:HOST:PORT or unix:/path") { listener, value in
            guard let text = value.text, !text.isEmpty else { return false }
            listener.address = text
            return true
        },
        ListenerSetting(key: "socket", allowed: "the name of a socket of the service manager") {
            listener, value in
            guard let text = value.text, !text.isEmpty else { return false }
            listener.socket = text
            return true
        },
        ListenerSetting(key: "roles", allowed: "a list of vehicle and navigation") { listener, value in
            guard let names = value.list, !names.isEmpty else { return false }
            let roles = names.compactMap { name in
                AcceptingSession.Role.allCases.first { "\($0)" == name }
            }
            listener.roles = Set(roles)
            return roles.count == names.count
        },
        ListenerSetting(key: "key", allowed: "a text of 1 to 256 bytes, in quotes if it is null") {
            listener, value in
            guard let text = value.text,
                (1...ProtocolConstants.credentialBytesMax).contains(text.utf8.count)
            else { return false }
            listener.key = text
            return true
        },
        ListenerSetting(key: "allow-anyone", allowed: "true or false") { listener, value in
            guard let isAllowed = value.bool else { return false }
            listener.allowAnyone = isAllowed
            return true
        },
        ListenerSetting(
            key: "mode", allowed: "permissions of a file in octal, with a 0 before three digits, e.g. 0660"
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
    /// Every key of a listener.
    package static var listenerKeys: [String] { ListenerSetting.all.map(\.key) }
}
