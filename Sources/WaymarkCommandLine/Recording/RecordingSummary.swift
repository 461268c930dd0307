internal import Foundation
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// `waymark recording info` in lines.
struct RecordingSummary {
    private let recording: Recording
    private let columns: Int

    static func lines(_ recording: Recording, name: String, columns: Int) -> [String] {
        let summary = RecordingSummary(recording: recording, columns: columns)
        let lines = summary.head(name).flatMap { Terminal.wrapped($0, columns: columns) }
        return (lines + summary.connections + summary.attachments).map(Terminal.printable)
    }

    /// Of what it is, in a line.
    static func text(_ origin: Recording.Origin) -> String {
        guard let run = origin.run else { return "of gateway \(origin.instance)" }
        return "a run of \(run.scenario), \(run.clock), seed \(run.seed)"
    }

    private func head(_ name: String) -> [String] {
        let index = self.recording.index
        let statistics = index.statistics
        let size = StatusTable.bytes(self.recording.source.byteCount)
        let count = GuidanceText.counted(Int(clamping: statistics.messageCount), "message")
        var lines = [name, "\(size), \(count) in \(GuidanceText.counted(index.chunks.count, "chunk"))"]
        if let problem = index.summaryProblem {
            lines.append(
                "its summary is wrong and was not used: \(problem); `waymark recording repair` writes it again"
            )
        } else if !index.isWhole {
            let rest = self.recording.source.byteCount - index.wholeByteCount
            lines.append(
                "not ended; \(StatusTable.bytes(rest)) behind its last whole chunk; `waymark recording repair` ends it"
            )
        }
        if index.damagedChunkCount > 0 {
            let reason = index.damage.map { ": \($0)" } ?? ""
            lines.append("\(GuidanceText.counted(index.damagedChunkCount, "chunk")) cannot be read\(reason)")
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
        if let run = origin.run {
            lines = ["\(Self.text(origin)): \(run.verdict)", "recorded by \(origin.recorder)"]
        }
        switch (origin.isRedacted, origin.visibility) {
        case (true, _): lines.append("texts and places were removed by the recorder")
        case (_, "state"): lines.append("texts and places were hidden by the gateway")
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
            /// Not as they were sent, or not at all, because of a fault.
            var faulted: UInt64 = 0
        }
        var rows: [ConnectionID: Row] = [:]
        let counts = self.recording.index.statistics.messages
        for channel in self.recording.index.channels.values {
            guard case .frames(let frames) = RecordedChannel(channel) else { continue }
            let count = counts[channel.id] ?? 0
            var row = rows[frames.connection] ?? Row()
            row.peer = channel.metadata["peer"] ?? row.peer
            if frames.direction == .in {
                row.received.addSaturating(count)
            } else {
                row.sent.addSaturating(count)
            }
            if frames.isRejected { row.rejected.addSaturating(count) }
            if [.dropped, .corrupted].contains(frames.delivery) { row.faulted.addSaturating(count) }
            rows[frames.connection] = row
        }
        let lines = rows.sorted { $0.key < $1.key }.map { connection, row in
            let notes = [
                row.rejected == 0 ? nil : "\(row.rejected) rejected",
                row.faulted == 0 ? nil : "\(row.faulted) dropped or corrupted",
            ]
            return [
                "\(connection.rawValue)", row.peer, "\(row.received)", "\(row.sent)",
                notes.compactMap(\.self).joined(separator: ", "),
            ]
        }
        return TextTable.lines(
            ["CONNECTION", "PEER", "FROM IT", "TO IT", "NOTES"], lines, columns: self.columns)
    }

    /// A row for each file in the recording.
    private var attachments: [String] {
        let rows = self.recording.index.attachments.map {
            [$0.name, $0.mediaType, StatusTable.bytes($0.dataByteCount)]
        }
        guard !rows.isEmpty else { return [] }
        return TextTable.lines(["ATTACHMENT", "TYPE", "SIZE"], rows, columns: self.columns)
    }
}

extension Recording {
    /// Why this may not be all of a recording; nil if it is.
    func note(on file: String) -> String? {
        guard !self.index.isWhole else { return nil }
        if let problem = self.index.summaryProblem {
            return "the summary of \(file) is wrong (\(problem)); this is what its chunks have"
        }
        return "\(file) was not ended; this is all up to its last whole chunk"
    }
}
