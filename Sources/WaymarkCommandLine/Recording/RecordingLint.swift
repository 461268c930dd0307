internal import ArgumentParser
internal import Foundation
internal import WaymarkLint
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// `waymark lint` of recordings.
struct RecordingLint {
    private let files: [String]
    private var linter: RecordedLinter
    private var lines: LintLines
    /// Rules that could not judge some of what was recorded.
    private var off: Set<LintID> = []
    private var end = Date(timeIntervalSince1970: 0)

    init(_ files: [String], _ allowances: [LintAllowance], vehicles: [String], isJSON: Bool, columns: Int?)
        throws
    {
        self.files = files
        self.linter = RecordedLinter(
            allowing: allowances,
            vehicles: Set(
                try vehicles.map { name in
                    guard let id = VehicleID(name) else {
                        throw ValidationError("--vehicle \(Terminal.printable(name)) is no name of a vehicle")
                    }
                    return id
                }))
        self.lines = LintLines(isJSON: isJSON, columns: columns)
    }

    /// Judges all files, and prints what is found.
    ///
    /// - Throws: Status 1 if something was found, 2 if a file could not be read.
    mutating func run() throws {
        var failedCount = 0
        for file in self.files {
            do throws(RecordingError) { try self.judge(file) } catch {
                Terminal.note("Error: \(Terminal.printable(file)) cannot be read: \(error)")
                failedCount += 1
            }
        }
        // Where nothing was judged there is no verdict.
        if failedCount < self.files.count {
            self.lines.summary(
                self.linter.summary,
                off: LintID.allCases.filter { self.off.contains($0) || $0.isForRunsAlone }, at: self.end)
        }
        if failedCount > 0 { throw ExitCode(2) }
        if self.linter.findingCount > 0 { throw ExitCode(1) }
    }

    private mutating func judge(_ file: String) throws(RecordingError) {
        let recording = try Recording(try FileSource(path: file))
        guard let origin = recording.origin else { throw .unsupported("it is no recording of waymark") }
        self.lines.timeZone = RecordedReport.timeZone(of: recording)
        let begin = recording.times?.lowerBound.date ?? Date(timeIntervalSince1970: 0)
        self.end = max(self.end, recording.times?.upperBound.date ?? begin)
        self.lines.notice(
            "judging \(file), \(RecordingSummary.text(origin))", ["file": file, "instance": origin.instance],
            at: begin)
        if let note = recording.note(on: file) { Terminal.note(note) }
        if recording.index.damagedChunkCount > 0 {
            Terminal.note(
                "\(file): \(GuidanceText.counted(recording.index.damagedChunkCount, "chunk")) cannot be read")
        }
        self.noteHidden(recording, origin, file)
        let lines = self.lines
        try self.linter.judge(recording) { output in
            switch output {
            case .finding(let finding, let time, _): lines.finding(finding, at: time.date)
            case .dropped(let count, let time):
                lines.notice(
                    "\(count) entries are missing: the recorder read too slowly", ["dropped": count],
                    at: time.date)
            }
        }
    }

    /// What a recording does not say cannot be judged.
    private mutating func noteHidden(_ recording: Recording, _ origin: Recording.Origin, _ file: String) {
        let rules = LintID.allCases.filter(\.needsContent)
        let names = rules.map(\.rawValue).joined(separator: ", ")
        if origin.isRedacted || origin.visibility == "\(Visibility.state)" {
            self.off.formUnion(rules)
            Terminal.note("\(file) has no texts and places, so \(names) are off")
        } else if recording.hasRedactedFrames {
            Terminal.note("\(file) has frames without texts and places, which \(names) do not judge")
        }
    }
}
