package import ArgumentParser
internal import Foundation
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

package struct RecordingCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "recording",
        abstract: "Look at a recording, convert it, or repair it.",
        subcommands: [Info.self, Show.self, Export.self, Repair.self])

    package init() {}

    struct Input: ParsableArguments {
        @Argument(help: "The recording.", completion: .file(extensions: ["mcap"])) var file: String

        func read() throws -> Recording {
            do throws(RecordingError) { return try Recording(try FileSource(path: self.file)) } catch {
                throw self.failure(error)
            }
        }

        func failure(_ error: RecordingError) -> CommandFailure {
            CommandFailure("\(self.file) cannot be read: \(error)")
        }

        /// A part of a recording that is not read is no reason to be silent about it.
        func noteEnd(of recording: Recording) {
            if let note = recording.note(on: self.file) { Terminal.note(note) }
        }
    }

    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show from when and of what a recording is, and who was connected.",
            usage: "waymark recording info FILE")
        @OptionGroup var input: Input

        func run() throws {
            let recording = try self.input.read()
            let lines = RecordingSummary.lines(
                recording, name: self.input.file, columns: Terminal.size.columns)
            for line in lines { Terminal.line(line) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a recording as `waymark watch` would have.",
            usage: "waymark recording show [--at TIME] [--for TIME] [--all] FILE",
            discussion: """
                With --at it begins with the gateway's state at that time: what sessions there are, and what they retain.
                """)
        @OptionGroup var input: Input
        @Option(
            help:
                "From when on: the time since the beginning, e.g. 90s, 0.1s or 1:30, or a time of day: 19:59:41 as it is shown, or 2026-11-23T09:15:00Z."
        )
        var at: String?
        @Option(
            name: .customLong("for"), help: "How much to print, e.g. 10s or 5min; a number alone is seconds.")
        var length: String?
        @Flag(help: "Also print what another line says already, e.g. publications on their way to vehicles.")
        var all = false

        func validate() throws {
            if let at { _ = try RecordingPlace(at) }
            if let length { _ = try RecordingPlace.length(length) }
        }

        func run() throws {
            let recording = try self.input.read()
            guard let times = recording.times else { return self.input.noteEnd(of: recording) }
            var options = WatchReport.Options()
            options.isEverythingShown = self.all
            options.columns = Terminal.isInteractive ? Terminal.size.columns : nil
            options.timeZone = RecordedReport.timeZone(of: recording)
            var report = RecordedReport(options)
            let begin = try self.at.map { try RecordingPlace($0).time(in: times, options.timeZone) }
            let end = try self.length.map { (begin ?? times.lowerBound) + (try RecordingPlace.length($0)) }
            if let begin, begin > times.upperBound {
                Terminal.note("\(self.input.file) ends before this time; this is the state at its end")
            }
            do throws(RecordingError) {
                var walk = RecordingWalk(recording, holdsContent: false)
                if let begin {
                    walk = try RecordingWalk(recording, from: begin)
                    for line in report.lines(of: walk.state, at: begin) { Terminal.line(line) }
                }
                while let entry = try walk.next() {
                    if let end, entry.time > end { break }
                    if let line = report.line(for: entry, walk.state) { Terminal.line(line) }
                }
            } catch {
                throw self.input.failure(error)
            }
            self.input.noteEnd(of: recording)
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Convert a recording for other programs.",
            usage: "waymark recording export (--jsonl | --decoded OUT | --attachments FOLDER) FILE",
            discussion: """
                With --jsonl it prints the lines of `waymark watch --json`. With --decoded it writes an MCAP file with a channel for \
                each connection and message, whose content general tools such as Foxglove show. With --attachments it writes the \
                files that the recording contains: the scenario of a run, its routes, profiles and settings.
                """)
        @OptionGroup var input: Input
        @Flag(help: "Print one JSON object per line, see Docs/cluster-json.md.") var jsonl = false
        @Option(help: "The file to write; there must be none.", completion: .file(extensions: ["mcap"]))
        var decoded: String?
        @Option(
            help: "The folder for the files in the recording; none of them may be there.",
            completion: .directory)
        var attachments: String?

        func validate() throws {
            guard [self.jsonl, self.decoded != nil, self.attachments != nil].count(where: \.self) == 1 else {
                throw ValidationError(
                    "either --jsonl, --decoded FILE or --attachments FOLDER says what to write")
            }
        }

        func run() throws {
            let recording = try self.input.read()
            if let attachments {
                try RecordedFiles.write(of: recording, self.input, to: attachments)
            } else if let decoded {
                var export = DecodedExport(recording)
                do throws(RecordingError) { try export.write(to: decoded) } catch {
                    throw CommandFailure("\(decoded) cannot be written: \(error)")
                }
                if export.leftOutCount > 0 {
                    Terminal.note(
                        "\(decoded) lacks \(GuidanceText.counted(Int(clamping: export.leftOutCount), "message")): an MCAP file "
                            + "has at most 65535 channels, and this needs one for each message of each connection"
                    )
                }
            } else {
                do throws(RecordingError) {
                    var walk = RecordingWalk(recording, holdsContent: false)
                    while let entry = try walk.next() {
                        Terminal.line(RecordedJSON.line(entry, walk.state))
                    }
                } catch {
                    throw self.input.failure(error)
                }
            }
            self.input.noteEnd(of: recording)
        }
    }

    struct Repair: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a recording that its recorder could not end.",
            usage: "waymark recording repair FILE",
            discussion: """
                Removes what is behind the last whole chunk, and writes index and statistics there. The file is changed in place.
                """)
        @OptionGroup var input: Input

        func run() throws {
            let result: RecordingRepair.Result
            do throws(RecordingError) { result = try RecordingRepair.repair(path: self.input.file) } catch {
                throw CommandFailure("\(self.input.file) cannot be repaired: \(error)")
            }
            guard !result.wasWhole else {
                return Terminal.line(Terminal.printable("\(self.input.file) is whole"))
            }
            var parts = [
                "\(GuidanceText.counted(Int(clamping: result.messageCount), "message")) kept",
                "\(StatusTable.bytes(result.removedByteCount)) removed",
            ]
            if result.damagedChunkCount > 0 {
                parts.append("\(GuidanceText.counted(result.damagedChunkCount, "chunk")) cannot be read")
            }
            Terminal.line(Terminal.printable("\(self.input.file): \(parts.joined(separator: ", "))"))
        }
    }
}

/// A time in a recording: since its beginning, or a time of day.
enum RecordingPlace {
    case after(Duration)
    case at(Date)
    /// Of a day, if the recording contains it; else since its beginning.
    case clock(hour: Int, minute: Int, second: Double)

    init(_ text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 3, let hour = Int(parts[0]), let minute = Int(parts[1]),
            let second = Double(parts[2]), (0..<24).contains(hour), (0..<60).contains(minute),
            (0..<60).contains(second)
        {
            self = .clock(hour: hour, minute: minute, second: second)
        } else if let seconds = Self.seconds(text), seconds >= 0, seconds <= 31_622_400 {
            self = .after(.seconds(seconds))
        } else if let date = Self.date(text) {
            self = .at(date)
        } else {
            throw ValidationError(
                "--at \(Terminal.printable(text)) is no time: e.g. 90s, 0.1s, 5min, 1:30 or 2026-11-23T09:15:00Z"
            )
        }
    }

    /// How much of a recording is meant, as `--for` has it.
    static func length(_ text: String) throws -> Duration {
        guard let seconds = Self.seconds(text) else {
            throw ValidationError(
                "--for \(Terminal.printable(text)) is no time: e.g. 10s, 0.5s, 5min or 1:30")
        }
        return try duration(seconds: seconds, option: "--for")
    }

    private static func seconds(_ text: String) -> Double? {
        let units: [(String, Double)] = [("ms", 0.001), ("min", 60), ("s", 1), ("h", 3_600)]
        for (unit, seconds) in units where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count)).map { $0 * seconds }
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count <= 3, parts.allSatisfy({ ($0 ?? -1) >= 0 }) else { return nil }
        return parts.reduce(0) { $0 * 60 + ($1 ?? 0) }
    }

    private static func date(_ text: String) -> Date? {
        for hasFraction in [true, false] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
            do { return try style.parse(text) } catch { continue }
        }
        return nil
    }

    /// Which time of a recording is meant. `timeZone`: in which its times are shown.
    func time(in times: ClosedRange<RecordingTime>, _ timeZone: TimeZone) -> RecordingTime {
        switch self {
        case .after(let duration): return times.lowerBound + duration
        case .at(let date): return Self.time(date)
        case .clock(let hour, let minute, let second):
            let sinceMidnight = Double(hour * 3_600 + minute * 60) + second
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = timeZone
            let begin = times.lowerBound.date
            let parts = DateComponents(hour: hour, minute: minute, second: Int(second))
            // A second of the day may be the one in which the recording begins.
            let from = begin.addingTimeInterval(-1)
            if let found = calendar.nextDate(after: from, matching: parts, matchingPolicy: .nextTime) {
                let time = Self.time(found.addingTimeInterval(second - Double(Int(second))))
                if time + .seconds(1) > times.lowerBound, time <= times.upperBound {
                    return max(time, times.lowerBound)
                }
            }
            return times.lowerBound + .seconds(sinceMidnight)
        }
    }

    private static func time(_ date: Date) -> RecordingTime {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        // Later than any recording, and a number that fits.
        return RecordingTime(nanoseconds: UInt64(min(max(0, milliseconds), 1e13)) * 1_000_000)
    }
}
