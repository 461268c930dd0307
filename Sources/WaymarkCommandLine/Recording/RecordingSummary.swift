internal import Foundation
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkRig

/// `waymark recording info` in lines.
struct RecordingSummary {
    private let recording: Recording
    private let columns: Int

    static func lines(_ recording: Recording, name: String, columns: Int) -> [String] {
        let summary = RecordingSummary(recording: recording, columns: columns)
        let lines = summary.head(name).flatMap { Terminal.wrapped($0, columns: columns) }
        return (lines + summary.connections).map(Terminal.printable)
    }

    private func head(_ name: String) -> [String] {
        let index = self.recording.index
        let statistics = index.statistics
        let size = StatusTable.bytes(self.recording.source.byteCount)
        let count = GuidanceText.counted(Int(clamping: statistics.messageCount), "message")
        var lines = [name, "\(size), \(count) in \(GuidanceText.counted(index.chunks.count, "chunk"))"]
        if !index.isWhole {
            let rest = self.recording.source.byteCount - index.wholeByteCount
            lines.append(
                "not ended; \(StatusTable.bytes(rest)) behind its last whole chunk; `waymark recording repair` ends it"
            )
        }
        if index.damagedChunkCount > 0 {
            lines.append("\(GuidanceText.counted(index.damagedChunkCount, "chunk")) cannot be read")
        }
        if let times = self.recording.times {
            let duration = (times.upperBound - times.lowerBound) / .seconds(1)
            lines.append("\(times.lowerBound) to \(times.upperBound), \(StatusTable.seconds(duration))")
        }
        return lines + self.origin
    }

    private var origin: [String] {
        guard let origin = self.recording.origin else { return ["no recording of waymark"] }
        var lines = ["gateway \(origin.instance), \(origin.software); recorded by \(origin.recorder)"]
        switch (origin.isRedacted, origin.visibility) {
        case (true, _): lines.append("places and texts were removed by the recorder")
        case (_, "state"): lines.append("places and texts were hidden by the gateway")
        default: break
        }
        if !origin.vehicles.isEmpty { lines.append("only of \(origin.vehicles)") }
        return lines
    }

    /// A row for each connection, with the number of its frames.
    private var connections: [String] {
        struct Row {
            var peer = ""
            var received: UInt64 = 0
            var sent: UInt64 = 0
            var rejected: UInt64 = 0
        }
        var rows: [ConnectionID: Row] = [:]
        let counts = self.recording.index.statistics.messages
        for channel in self.recording.index.channels.values {
            guard case .frames(let frames) = RecordedChannel(channel) else { continue }
            let count = counts[channel.id] ?? 0
            var row = rows[frames.connection] ?? Row()
            row.peer = channel.metadata["peer"] ?? row.peer
            if frames.direction == .in { row.received += count } else { row.sent += count }
            if frames.isRejected { row.rejected += count }
            rows[frames.connection] = row
        }
        let lines = rows.sorted { $0.key < $1.key }.map { connection, row in
            [
                "\(connection.rawValue)", row.peer, "\(row.received)", "\(row.sent)",
                row.rejected == 0 ? "" : "\(row.rejected) rejected",
            ]
        }
        return TextTable.lines(
            ["CONNECTION", "PEER", "FROM IT", "TO IT", "NOTES"], lines, columns: self.columns)
    }
}
