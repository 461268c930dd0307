internal import Foundation
internal import ProcessIO
package import WaymarkConfiguration
internal import WaymarkGateway

/// Why the settings cannot be read.
package enum SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadable(file: String, reason: String)
    case wrong(ConfigurationError)
    /// The file sets nothing, which a start accepts, but no reload and no check: a save that failed leaves such a file.
    case empty(file: String)

    package var description: String {
        switch self {
        case .unreadable(let file, let reason): "cannot read \(file): \(reason)"
        case .wrong(let error): "\(error)"
        case .empty(let file): "\(file) has no settings; a reload of defaults would close every listener"
        }
    }
}

/// Reads the settings from the file and the command line, at the start and for each reload.
package struct SettingsSource: Sendable {
    private let file: String?
    private let listeners: [Settings.Listener]
    private let logLevel: String?

    /// Far larger than any real configuration file.
    private static let bytesMax = 16_777_216

    /// - Parameters:
    ///   - file: The configuration file; nil for the defaults.
    ///   - listeners: Listeners from the command line, in addition to the file's.
    ///   - logLevel: The log level from the command line, which overrides the file's; nil for the file's.
    package init(file: String?, listeners: [Settings.Listener] = [], logLevel: String? = nil) {
        self.file = file
        self.listeners = listeners
        self.logLevel = logLevel
    }

    /// The longest time that a reload waits for files, which may be on a network.
    private static let patience = Duration.seconds(5)

    /// Reads them for a reload, on a thread of its own, because a file may not answer.
    package func readAgain() async throws -> Settings {
        let (results, result) = AsyncStream.makeStream(
            of: Result<Settings, SettingsError>.self, bufferingPolicy: .bufferingOldest(1))
        let name = self.file ?? ""
        Thread.detachNewThread {
            do throws(SettingsError) {
                result.yield(.success(try self.read(isReload: true)))
            } catch { result.yield(.failure(error)) }
        }
        let timer = Task {
            do { try await Task.sleep(for: Self.patience) } catch { return }
            result.yield(
                .failure(.unreadable(file: name, reason: "it did not answer within \(Self.patience)")))
        }
        defer { timer.cancel() }
        for await first in results { return try first.get() }
        throw CancellationError()
    }

    /// Reads them. `isReload`: a file that sets nothing is refused.
    package func read(isReload: Bool = false) throws(SettingsError) -> Settings {
        var settings = Settings()
        if let file { settings = try Self.read(file, isReload) }
        settings.listeners += self.listeners
        if let logLevel { settings.logLevel = logLevel }
        return settings
    }

    private static func read(_ file: String, _ isReload: Bool) throws(SettingsError) -> Settings {
        let content: FileContent
        do throws(FileError) { content = try FileContent(path: file, bytesMax: Self.bytesMax) } catch {
            throw .unreadable(file: file, reason: "\(error)")
        }
        var settings: Settings
        let isEmpty: Bool
        do throws(ConfigurationError) {
            (settings, isEmpty) = try Configuration.readFile(content.bytes, file: file)
        } catch {
            throw .wrong(error)
        }
        guard !isReload || !isEmpty else { throw .empty(file: file) }
        if content.isReadableByAll, let listener = settings.listeners.first(where: { $0.key != nil }) {
            let location = listener.location ?? SourceLocation(file: file, line: 1, column: 1)
            let reason = "the file contains a key, and every user can read it; run chmod o-r \(file)"
            throw .wrong(ConfigurationError(location: location, reason: reason))
        }
        do throws(ConfigurationError) {
            try KeyFile.readAll(of: &settings, folder: KeyFile.folder(of: file))
            settings.policy.access = try settings.resolvedAccess()
        } catch {
            throw .wrong(error)
        }
        return settings
    }
}
