internal import Glibc
package import Logging
package import ProcessIO

/// Writes each log line with one write: time, level, program, metadata and message. A line that cannot be written is lost.
package struct LineLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace
    private let label: String
    private let stream: StandardStream
    private let queue: LogQueue?

    /// With a `queue` lines are written on its thread.
    package init(label: String, stream: StandardStream = .error, queue: LogQueue? = nil) {
        self.label = label
        self.stream = stream
        self.queue = queue
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let facts = self.metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        let line = "\(Self.now()) \(event.level) \(self.label):\(facts) \(event.message)"
        let text = TerminalText.printable(line) + "\n"
        let write: @Sendable () -> Void = { [stream = self.stream] in
            do throws(WriteError) { try stream.write(text) } catch { /* Nothing is left to report it to. */  }
        }
        if let queue { queue.add(text.utf8.count, write) } else { write() }
    }

    /// The time in the form `2026-11-22T14:12:22+0000`.
    private static func now() -> String {
        var seconds = Glibc.time(nil)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
        var buffer = [CChar](repeating: 0, count: 64)
        let length = unsafe strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S%z", &parts)
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
