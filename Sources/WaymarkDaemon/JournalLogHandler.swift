package import Logging
package import Systemd
internal import WaymarkTelemetry

/// Writes log lines as journal entries with one field per metadata value, so that `journalctl WAYMARK_VEHICLE=bus-7` finds them.
///
/// An entry has `MESSAGE` (the message and its metadata), `WAYMARK_KEY` for each metadata key in capitals, `MESSAGE_ID` of the
/// ``LoggedEvent``, `PRIORITY`, and the source location.
package struct JournalLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let send: @Sendable ([Journal.Field]) throws(SystemdError) -> Void
    /// For entries that the journal did not accept.
    private let fallback: LineLogHandler
    private let queue: LogQueue?

    /// With a `queue` entries are written on its thread.
    package init(
        label: String, level: Logger.Level,
        queue: LogQueue? = nil,
        send: @escaping @Sendable ([Journal.Field]) throws(SystemdError) -> Void = Journal.send
    ) {
        self.queue = queue
        self.logLevel = level
        self.send = send
        self.fallback = LineLogHandler(label: label)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let fields = self.fields(of: event)
        let write: @Sendable () -> Void = { [send = self.send, fallback = self.fallback] in
            do throws(SystemdError) { try send(fields) } catch {
                // The line must not be lost. Standard error is connected to the journal as well.
                fallback.log(event: event)
            }
        }
        guard let queue else { return write() }
        queue.add(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }, write)
    }

    /// The entry for a line.
    private func fields(of event: LogEvent) -> [Journal.Field] {
        let facts = self.metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let sentence = event.message.description
        let text = facts.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        var fields = [
            Journal.Field("MESSAGE", facts.isEmpty ? sentence : "\(sentence): \(text)"),
            Journal.Field("PRIORITY", "\(event.level.priority)"),
            Journal.Field("CODE_FILE", event.file), Journal.Field("CODE_LINE", "\(event.line)"),
            Journal.Field("CODE_FUNC", event.function),
        ]
        if let known = LoggedEvent(rawValue: sentence) {
            fields.append(Journal.Field("MESSAGE_ID", known.messageID))
        }
        return fields + facts.flatMap { Self.fields(of: $0.key, $0.value) }
    }

    /// An array becomes one field per element, so that an entry about several vehicles is found by each of them.
    private static func fields(of key: String, _ value: Logger.Metadata.Value) -> [Journal.Field] {
        guard case .array(let values) = value else {
            return [Journal.Field(LogKey.journalField(of: key), "\(value)")]
        }
        return values.flatMap { Self.fields(of: key, $0) }
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
