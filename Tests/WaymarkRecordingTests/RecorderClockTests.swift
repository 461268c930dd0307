import Glibc
import Testing
import WaymarkProtocol

@testable import WaymarkRecording

/// A recorder whose computer's clock is set while it runs, or was wrong before.
@Suite struct RecorderClockTests {
    private static let day = Duration.seconds(86_400)
    /// How far clocks are set: a GPS week that rolls over, a computer without a clock, a date typed by hand, a change of an hour.
    private static let changes: [Duration] = [
        .seconds(-1_024 * 7 * 86_400), .seconds(-1_795_425_000), .seconds(60 * 365 * 86_400), .seconds(3_600),
        .seconds(-3_600), .seconds(400 * 365 * 86_400),
    ]

    /// What is between the time at which a `Drive` begins, which is in 1970, and the present one.
    private static let present = Duration.seconds(1_795_425_000)

    /// Recorders that use one folder, one after another.
    private struct Folder {
        var storage = MemoryStorage()
        var elapsed = Instant(nanoseconds: 0)
        /// What the clock would show if it were right.
        var date = RecordingTime(nanoseconds: 1_795_425_300_000_000_000)
        var clockChange = Duration.zero
        let keepDuration = RecorderClockTests.day * 7
        var keepBytes = UInt64.max
        /// When each file was written last.
        var written: [String: RecordingTime] = [:]

        init() { self.storage.isRemoving = true }

        var moment: RecordingMoment {
            RecordingMoment(self.date + self.clockChange, elapsed: self.elapsed)
        }

        func recorder() throws -> RecordingFiles<MemoryStorage> {
            RecordingFiles(
                self.storage, try #require(RecordingNames(prefix: "rig")), keepBytes: self.keepBytes,
                keepDuration: self.keepDuration)
        }

        mutating func wait(_ duration: Duration) {
            (self.date, self.elapsed) = (self.date + duration, self.elapsed + duration)
        }

        mutating func perform(
            _ actions: [Recorder.Action], _ files: inout RecordingFiles<MemoryStorage>
        ) throws {
            files.storage.now = self.moment.time
            try files.perform(actions, at: self.moment)
            if let current = files.current { self.written[current] = self.date }
            self.storage = files.storage
        }

        /// Records one file.
        mutating func record(_ files: inout RecordingFiles<MemoryStorage>) throws -> String {
            try self.perform([.open, .write([1, 2, 3])], &files)
            self.wait(.seconds(3_600))
            try self.perform([.write([4])], &files)
            let name = try #require(files.current)
            try self.perform([.sync, .close], &files)
            return name
        }

        var names: [String] { self.storage.stored.map(\.name) }
        func age(of name: String) -> Duration { self.date - (self.written[name] ?? self.date) }
    }

    @Test(arguments: changes) func `a clock that is wrong at one start removes no file that is kept`(
        _ change: Duration
    ) throws {
        var folder = Folder()
        var old: [String] = []
        for _ in 0..<4 {
            var files = try folder.recorder()
            old.append(try folder.record(&files))
            folder.wait(Self.day)
        }
        folder.clockChange = change
        var files = try folder.recorder()
        old.append(try folder.record(&files))
        #expect(folder.names == old)
        folder.wait(Self.day)
        try folder.perform([.sync], &files)
        #expect(folder.names == old)
        folder.clockChange = .zero
        files = try folder.recorder()
        old.append(try folder.record(&files))
        #expect(folder.names == old)
        // Nor do they stay for ever.
        folder.wait(Self.day * 8)
        try folder.perform([.open, .sync], &files)
        #expect(folder.names == [try #require(files.current)])
    }

    @Test(arguments: changes) func `a clock that is set while a recorder runs changes no age`(
        _ change: Duration
    ) throws {
        var folder = Folder()
        var files = try folder.recorder()
        for place in 0..<40 {
            folder.clockChange = place.isMultiple(of: 3) ? change : .zero
            _ = try folder.record(&files)
            folder.wait(.seconds(11 * 3_600))
            try folder.perform([.open, .sync, .close], &files)
            for name in folder.written.keys {
                let isKept = folder.age(of: name) <= folder.keepDuration
                #expect(folder.names.contains(name) == isKept, "\(name), \(folder.age(of: name))")
            }
        }
    }

    @Test func `files of earlier recorders expire, also those of a computer that begins in 1970`() throws {
        var folder = Folder()
        for place in 0..<30 {
            folder.clockChange = place % 4 == 3 ? .seconds(-1_795_425_000) : .zero
            var files = try folder.recorder()
            let name = try folder.record(&files)
            for other in folder.written.keys where folder.age(of: other) <= folder.keepDuration {
                #expect(folder.names.contains(other), "after \(name)")
            }
            folder.wait(.seconds(23 * 3_600))
        }
        #expect(folder.names.count < 20)
    }

    @Test func `a pause counts at most half of what is kept`() throws {
        var folder = Folder()
        var files = try folder.recorder()
        let first = try folder.record(&files)
        folder.wait(Self.day * 400)
        files = try folder.recorder()
        let second = try folder.record(&files)
        #expect(folder.names == [first, second])
        files = try folder.recorder()
        _ = try folder.record(&files)
        #expect(folder.names.contains(first))
        folder.wait(Self.day * 4)
        try folder.perform([.sync], &files)
        #expect(!folder.names.contains(first))
        #expect(folder.names.contains(second))
    }

    @Test(arguments: changes)
    func `the oldest files go for newer ones in the order in which they were written`(
        _ change: Duration
    ) throws {
        var folder = Folder()
        folder.keepBytes = 16
        var written: [String] = []
        for place in 0..<9 {
            folder.clockChange = place % 3 == 1 ? change : .zero
            var files = try folder.recorder()
            written.append(try folder.record(&files))
        }
        #expect(Set(folder.names) == Set(written.suffix(4)))
        #expect(Set(written).count == 9)
    }

    @Test func `names of others with huge numbers do no harm`() throws {
        var folder = Folder()
        for number in ["9223372036854775807", "99999999999999999999", "1000000000"] {
            folder.storage.stored.append(
                ("rig-20261123T091500Z-\(number).mcap", [], RecordingTime(nanoseconds: .max)))
        }
        var files = try folder.recorder()
        #expect(try folder.record(&files) == "rig-20261123T091500Z-001.mcap")
        #expect(folder.names.count == 4)
    }

    @Test func `times of files that a filesystem can hold are bounded`() {
        var time = RecordingTime(.init(tv_sec: .max, tv_nsec: 999_999_999))
        #expect(time.nanoseconds == .max)
        #expect(time.description.hasPrefix("2554-"))
        time = RecordingTime(.init(tv_sec: .min, tv_nsec: 0))
        #expect(time.nanoseconds == 0)
    }

    // MARK: Within a recording

    @Test(arguments: changes)
    func `a clock that is set begins one file, whose times are right, and loses nothing`(
        _ change: Duration
    ) throws {
        var drive = Drive()
        drive.clockChange = Self.present
        drive.begin()
        func run(_ seconds: Int, _ drive: inout Drive) {
            for place in 0..<seconds {
                drive.publish("Road \(place)", after: .seconds(1))
                drive.handle(.tick)
            }
        }
        run(100, &drive)
        drive.clockChange = Self.present + change
        let atChange = drive.moment.time
        run(100, &drive)
        drive.handle(.ended)
        #expect(drive.files.count == 2)
        var frameCount = 0
        for file in drive.files {
            let recording = try Recording(Bytes(file))
            #expect(recording.index.isWhole)
            let entries = try recording.entries()
            let times = entries.map(\.time)
            #expect(times == times.sorted())
            frameCount += entries.count { if case .frame = $0.content { true } else { false } }
        }
        #expect(frameCount == 400)
        let second = try #require(try Recording(Bytes(drive.files[1])).times)
        #expect(second.lowerBound >= atChange)
        #expect(second.upperBound == drive.moment.time)
    }

    @Test func `a clock that is set each second makes at most a file in a minute`() throws {
        var drive = Drive()
        drive.begin()
        for place in 0..<600 {
            drive.clockChange = place.isMultiple(of: 2) ? .seconds(-100_000_000) : .seconds(7_200)
            drive.publish("Road \(place)", after: .seconds(1))
            drive.handle(.tick)
        }
        drive.handle(.ended)
        #expect((2...11).contains(drive.files.count))
        for file in drive.files {
            let times = try Recording(Bytes(file)).entries().map(\.time)
            #expect(times == times.sorted())
        }
    }

    @Test(arguments: changes)
    func `a clock that is set back stops neither syncs nor the longest time of a file`(
        _ change: Duration
    ) {
        var options = Recorder.Options()
        options.fileDurationMax = .seconds(3_600)
        var drive = Drive(options)
        drive.clockChange = Self.present
        drive.begin()
        drive.clockChange = Self.present + change
        for place in 0..<7_300 {
            drive.publish("Road \(place)", after: .seconds(1))
            drive.handle(.tick)
        }
        #expect(drive.actions.count { $0 == .sync } > 700)
        #expect(drive.files.count == 4)
    }
}
