internal import Foundation
package import WaymarkConfiguration

/// Why there are no settings.
package enum SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadable(file: String, reason: String)
    case wrong(ConfigurationError)

    package var description: String {
        switch self {
        case .unreadable(let file, let reason): "\(file) cannot be read: \(reason)"
        case .wrong(let error): "\(error)"
        }
    }
}

/// Where the settings come from, as often as they are asked for.
package struct SettingsSource: Sendable {
    private let file: String?
    private let listeners: [Settings.Listener]
    private let logLevel: String?

    /// - Parameters:
    ///   - file: nil for the defaults.
    ///   - listeners: Beside those of the file.
    ///   - logLevel: In place of the file's; nil for the file's.
    package init(file: String?, listeners: [Settings.Listener] = [], logLevel: String? = nil) {
        self.file = file
        self.listeners = listeners
        self.logLevel = logLevel
    }

    /// Reads them now.
    package func read() throws(SettingsError) -> Settings {
        var settings = Settings()
        if let file { settings = try Self.read(file) }
        settings.listeners += self.listeners
        if let logLevel { settings.logLevel = logLevel }
        return settings
    }

    private static func read(_ file: String) throws(SettingsError) -> Settings {
        let text: String
        do { text = try String(contentsOfFile: file, encoding: .utf8) } catch {
            throw .unreadable(file: file, reason: error.localizedDescription)
        }
        do throws(ConfigurationError) { return try Configuration.read(text, file: file) } catch {
            throw .wrong(error)
        }
    }
}
