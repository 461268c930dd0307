internal import Glibc
internal import WaymarkProtocol

/// The files of a recorder: their names, and how long they are kept.
package struct RecordingNames: Sendable, Hashable {
    /// One of the files.
    package struct File: Sendable, Hashable {
        package let name: String
        package let byteCount: UInt64
        /// When it was written last, by the clock of then.
        package let modified: RecordingTime
    }

    /// The place of a file among the others: by its number, which counts on over all recordings in a folder, because a clock that was set
    /// makes times no order.
    package struct Order: Sendable, Hashable, Comparable {
        package let number: Int
        package let begin: String

        package static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.number, lhs.begin) < (rhs.number, rhs.begin)
        }
    }

    /// The beginning of each name.
    package let prefix: String

    /// - Returns: nil unless `prefix` has only letters, digits and `. _ -`, and does not begin with a dot.
    package init?(prefix: String) {
        let isAllowed = prefix.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAllowed, (1...64).contains(prefix.utf8.count), !prefix.hasPrefix(".") else { return nil }
        self.prefix = prefix
    }

    /// `car-20261123T091500Z-001.mcap`
    package func name(_ begin: RecordingTime, number: Int) -> String {
        self.name(begin.compact, number)
    }

    /// Larger numbers are of files that no recorder made.
    private static let numberMax = 999_999_999

    /// What ``name(_:number:)`` was called with; nil for a name that it does not make.
    package func order(of name: String) -> Order? {
        guard name.hasPrefix(self.prefix + "-"), name.hasSuffix(".mcap") else { return nil }
        let parts = name.dropFirst(self.prefix.count + 1).dropLast(5).split(
            separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 16, parts[1].count >= 3, let number = Int(parts[1]),
            (1...Self.numberMax).contains(number), self.name(String(parts[0]), number) == name
        else { return nil }
        let isTime = parts[0].utf8.enumerated().allSatisfy { place, byte in
            switch place {
            case 8: byte == UInt8(ascii: "T")
            case 15: byte == UInt8(ascii: "Z")
            default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        }
        return isTime ? Order(number: number, begin: String(parts[0])) : nil
    }

    private func name(_ begin: String, _ number: Int) -> String {
        let digits = "\(number)"
        let padding = String(repeating: "0", count: max(0, 3 - digits.count))
        return "\(self.prefix)-\(begin)-\(padding)\(digits).mcap"
    }

    /// Those of `files` that a recorder made, oldest first.
    package func own(_ files: [File]) -> [File] {
        files.compactMap { file in self.order(of: file.name).map { (order: $0, file: file) } }
            .sorted { $0.order < $1.order }.map(\.file)
    }

    /// Those of ``own(_:)`` that are no longer kept, oldest first, by the age of each. `current` stays.
    package func expired(
        _ own: [File], ages: [Duration], except current: String?, keepBytes: UInt64, keepDuration: Duration
    ) -> [File] {
        var byteCount = own.reduce(0) { $0 + $1.byteCount }
        var expired: [File] = []
        for (file, age) in zip(own, ages) where file.name != current {
            guard byteCount > keepBytes || age > keepDuration else { continue }
            byteCount -= file.byteCount
            expired.append(file)
        }
        return expired
    }
}

/// Where a recorder writes: a folder, or what a test puts in its place.
package protocol RecordingStorage: Sendable {
    /// Makes the file that is written from now on; false if there is one of this name.
    mutating func create(_ name: String) throws(RecordingError) -> Bool
    /// Appends all of it, or nothing.
    mutating func append(_ bytes: [UInt8]) throws(RecordingError)
    mutating func sync() throws(RecordingError)
    mutating func close()
    func files() throws(RecordingError) -> [RecordingNames.File]
    /// Removes a file, unless it is being recorded.
    mutating func remove(_ name: String) throws(RecordingError)
}

/// A folder of recordings.
package struct RecordingFolder: RecordingStorage {
    package let path: String
    private var output: FileOutput?

    /// - Throws: If there is no such folder, and it cannot be made.
    package init(path: String) throws(RecordingError) {
        self.path = path
        guard unsafe mkdir(path, 0o750) != 0, errno != EEXIST else { return }
        throw .failed(errno)
    }

    package func path(of name: String) -> String { "\(self.path)/\(name)" }

    package mutating func create(_ name: String) throws(RecordingError) -> Bool {
        self.output = try FileOutput.create(path: self.path(of: name))
        return self.output != nil
    }

    package mutating func append(_ bytes: [UInt8]) throws(RecordingError) {
        try self.output?.append(bytes)
    }

    package mutating func sync() throws(RecordingError) { try self.output?.sync() }

    package mutating func close() {
        self.output?.close()
        self.output = nil
    }

    package func files() throws(RecordingError) -> [RecordingNames.File] {
        guard let folder = unsafe opendir(self.path) else { throw .failed(errno) }
        defer { _ = unsafe closedir(folder) }
        var files: [RecordingNames.File] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            var status = stat()
            guard unsafe lstat(self.path(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { continue }
            files.append(
                RecordingNames.File(
                    name: name, byteCount: UInt64(status.st_size), modified: RecordingTime(status.st_mtim)))
        }
        return files
    }

    package func remove(_ name: String) throws(RecordingError) {
        let descriptor = unsafe open(self.path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .failed(errno) }
        defer { _ = Glibc.close(descriptor) }
        // Another recorder with the same name writes it.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return }
        guard unsafe unlink(self.path(of: name)) == 0 else { throw .failed(errno) }
    }
}

/// Performs the actions of a recorder: begins files under new names, and removes those that are no longer kept.
package struct RecordingFiles<Storage: RecordingStorage>: Sendable {
    package internal(set) var storage: Storage
    private let names: RecordingNames
    private let keepBytes: UInt64
    private let keepDuration: Duration
    private var ages: RecordingAges
    /// The file that is being written.
    package private(set) var current: String?
    /// A file that is no longer kept, and why it could not be removed: no reason to end the recording.
    package private(set) var unremoved: (name: String, error: RecordingError)?

    package init(_ storage: Storage, _ names: RecordingNames, keepBytes: UInt64, keepDuration: Duration) {
        self.storage = storage
        self.names = names
        self.keepBytes = keepBytes
        self.keepDuration = keepDuration
        self.ages = RecordingAges(keepDuration: keepDuration)
    }

    /// - Throws: What could not be written. The file has all that was written before, and is readable.
    package mutating func perform(
        _ actions: [Recorder.Action], at now: RecordingMoment
    ) throws(RecordingError) {
        for action in actions {
            switch action {
            case .open: try self.open(at: now)
            case .write(let bytes): try self.storage.append(bytes)
            case .sync:
                try self.storage.sync()
                self.removeExpired(at: now.elapsed)
            case .close: self.close()
            }
        }
    }

    /// Ends the present file as it is.
    package mutating func close() {
        self.storage.close()
        self.current = nil
    }

    private mutating func open(at now: RecordingMoment) throws(RecordingError) {
        let own = self.names.own(try self.storage.files())
        // Files of earlier recorders count from here, not from when one of them is looked at next.
        _ = self.ages.update(own, at: now.elapsed)
        var number = own.last.flatMap { self.names.order(of: $0.name)?.number } ?? 0
        repeat {
            number += 1
            self.current = self.names.name(now.time, number: number)
        } while try !self.storage.create(self.current ?? "")
        self.removeExpired(at: now.elapsed)
    }

    private mutating func removeExpired(at now: Instant) {
        var name = ""
        do throws(RecordingError) {
            let own = self.names.own(try self.storage.files())
            let expired = self.names.expired(
                own, ages: self.ages.update(own, at: now), except: self.current, keepBytes: self.keepBytes,
                keepDuration: self.keepDuration)
            for file in expired {
                name = file.name
                try self.storage.remove(name)
            }
            self.unremoved = nil
        } catch { self.unremoved = (name, error) }
    }
}
