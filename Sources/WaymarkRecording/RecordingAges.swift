internal import WaymarkProtocol

/// The ages of a recorder's files, although the computer's clock may be set at any time: a GPS receiver whose week number rolls over, a
/// computer that starts in 1970, a date typed by hand.
///
/// While a recorder runs, ages come from a clock that only goes forward. Files that it finds were written by earlier recorders: their times
/// are compared with that of the newest file, never with the present date.
struct RecordingAges: Sendable {
    private struct Seen {
        let file: RecordingNames.File
        /// At `instant`.
        let age: Duration
        let instant: Instant
    }

    private let keepDuration: Duration
    private var seen: [String: Seen]?

    init(keepDuration: Duration) { self.keepDuration = keepDuration }

    /// Returns the age of each of these files, which are all, oldest first.
    mutating func update(_ files: [RecordingNames.File], at now: Instant) -> [Duration] {
        let found = self.seen == nil ? self.agesAtStart(files) : files.map { _ in .zero }
        let old = self.seen ?? [:]
        var seen: [String: Seen] = [:]
        for (file, age) in zip(files, found) {
            // A file that has changed was written just now.
            let known = old[file.name].flatMap { $0.file == file ? $0 : nil }
            seen[file.name] = known ?? Seen(file: file, age: age, instant: now)
        }
        self.seen = seen
        return files.map { file in seen[file.name].map { $0.age + (now - $0.instant) } ?? .zero }
    }

    /// Ages of files that earlier recorders wrote, when the newest of them was written. Each is the least that the times allow:
    ///
    /// * A file is not older than one with a lower number, whatever its own time says.
    /// * The time between two files counts at most half of what is kept, because it may be a clock that was set.
    /// * A file whose time is not between those of its neighbours was written while the clock was wrong: then it counts at most what is
    ///   between its neighbours.
    private func agesAtStart(_ files: [RecordingNames.File]) -> [Duration] {
        guard let newest = files.last?.modified else { return [] }
        var ages: [Duration] = []
        for file in files {
            let age = max(.zero, newest - file.modified)
            ages.append(min(age, ages.last ?? age))
        }
        var sum = Duration.zero
        for place in files.indices.dropLast().reversed() {
            sum = min(
                sum + min(Self.gap(files, behind: place), self.keepDuration / 2), .seconds(1_000_000_000_000))
            ages[place] = min(ages[place], sum)
        }
        return ages
    }

    /// The least time that may be between a file and the next one.
    private static func gap(_ files: [RecordingNames.File], behind place: Int) -> Duration {
        func between(_ first: Int, _ last: Int) -> Duration {
            max(.zero, files[last].modified - files[first].modified)
        }
        var gap = between(place, place + 1)
        if place > 0, files[place].modified < files[place - 1].modified {
            gap = min(gap, between(place - 1, place + 1))
        }
        if place + 2 < files.count, files[place + 1].modified > files[place + 2].modified {
            gap = min(gap, between(place, place + 2))
        }
        return gap
    }
}
