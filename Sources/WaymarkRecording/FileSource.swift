internal import Glibc

/// A file that is read where it is needed.
package final class FileSource: ByteSource {
    private let descriptor: CInt
    package let byteCount: UInt64

    /// Opens a file for reading.
    package convenience init(path: String) throws(RecordingError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(errno) }
        try self.init(owning: descriptor)
    }

    /// Takes over an open file, and closes it in the end.
    fileprivate init(owning descriptor: CInt) throws(RecordingError) {
        self.descriptor = descriptor
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            self.byteCount = 0
            throw .failed(code)
        }
        self.byteCount = UInt64(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unsupported("it is no regular file") }
    }

    deinit { _ = close(self.descriptor) }

    package func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8] {
        var code: CInt = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            while count < range.count {
                let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[count..<range.count])
                let read = unsafe pread(
                    self.descriptor, rest.baseAddress, rest.count, off_t(range.lowerBound) + count)
                if read > 0 {
                    count += read
                } else if read == 0 || errno != EINTR {
                    code = read == 0 ? 0 : errno
                    return
                }
            }
        }
        guard bytes.count == range.count else {
            throw code == 0 ? .malformed("it became shorter while it was read") : .failed(code)
        }
        return bytes
    }
}

/// Makes a file whole that its recorder could not end.
package enum RecordingRepair {
    package struct Result: Sendable, Hashable {
        /// There was nothing to do.
        package var wasWhole = false
        /// What was behind the last whole record.
        package var removedByteCount: UInt64 = 0
        package var messageCount: UInt64 = 0
        package var damagedChunkCount = 0
    }

    /// Removes what is not whole at the end of the file, and writes index and statistics there.
    package static func repair(path: String) throws(RecordingError) -> Result {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(errno) }
        let source = try FileSource(owning: descriptor)
        // It closes the file, which is written to after its last use.
        defer { withExtendedLifetime(source) {} }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .unsupported("it is being recorded")
        }
        let index = try MCAPIndex(of: source)
        var result = Result()
        result.messageCount = index.statistics.messageCount
        result.damagedChunkCount = index.damagedChunkCount
        guard !index.isWhole else {
            result.wasWhole = true
            return result
        }
        let (kept, end) = try Self.end(of: index, source)
        result.removedByteCount = index.brokenByteCount
        guard ftruncate(descriptor, off_t(kept)) == 0 else { throw .failed(errno) }
        try FileOutput.write(end, to: descriptor, at: kept)
        guard fsync(descriptor) == 0 else { throw .failed(errno) }
        return result
    }

    /// How much of a file stays, and what must follow.
    static func end(
        of index: MCAPIndex, _ source: some ByteSource
    ) throws(RecordingError) -> (kept: UInt64, end: [UInt8]) {
        guard index.wholeByteCount > UInt64(MCAP.magic.count) else {
            throw .malformed("not even its first record is whole")
        }
        var index = index
        var end: [UInt8] = []
        if var last = index.chunks.last, last.offset + last.byteCount == index.wholeByteCount {
            // Its MessageIndex records may be missing.
            last.messageIndexes = [:]
            for (channel, content) in try MCAPChunk(source, last).messageIndexes {
                last.messageIndexes[channel] = index.wholeByteCount + UInt64(end.count)
                end.append(.messageIndex, content)
            }
            last.messageIndexByteCount = UInt64(end.count)
            index.chunks[index.chunks.count - 1] = last
        }
        var writer = MCAPWriter(continuing: index, byteCount: index.wholeByteCount + UInt64(end.count))
        return (index.wholeByteCount, end + writer.end())
    }
}

/// A file that is written at its end.
struct FileOutput {
    private let descriptor: CInt
    private(set) var byteCount: UInt64 = 0

    /// Makes a new file, which is locked until it is closed: a repair or another recorder leaves it alone.
    ///
    /// - Returns: nil if there is a file of this name.
    static func create(path: String) throws(RecordingError) -> FileOutput? {
        // What vehicles' users see is for this user and group.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw .failed(errno) }
            return nil
        }
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        return FileOutput(descriptor: descriptor)
    }

    private init(descriptor: CInt) { self.descriptor = descriptor }

    /// Appends all of it, or nothing.
    mutating func append(_ bytes: [UInt8]) throws(RecordingError) {
        do throws(RecordingError) {
            try Self.write(bytes, to: self.descriptor, at: self.byteCount)
            self.byteCount += UInt64(bytes.count)
        } catch {
            _ = ftruncate(self.descriptor, off_t(self.byteCount))
            throw error
        }
    }

    func sync() throws(RecordingError) {
        guard fdatasync(self.descriptor) == 0 else { throw .failed(errno) }
    }

    func close() { _ = Glibc.close(self.descriptor) }

    /// Writes with one call, if the system takes all at once.
    static func write(
        _ bytes: [UInt8], to descriptor: CInt, at offset: UInt64
    ) throws(RecordingError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + written)
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw .failed(count == 0 ? EIO : errno)
            }
        }
    }
}

/// A recording that is written at once.
package enum RecordingFile {
    /// Writes a new file, and waits until it is on its medium if `isSynced`.
    ///
    /// - Throws: Also if there is a file; one that could not be written to its end is removed.
    package static func create(
        _ path: String, isSynced: Bool = true,
        _ write: (([UInt8]) throws(RecordingError) -> Void) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        guard var output = try FileOutput.create(path: path) else { throw .failed(EEXIST) }
        defer { output.close() }
        do throws(RecordingError) {
            try write { bytes throws(RecordingError) in try output.append(bytes) }
            if isSynced { try output.sync() }
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    /// Writes a file beside `path`, and then puts it in place of what is there: a reader never sees a part of it.
    package static func replace(
        _ path: String, _ write: (([UInt8]) throws(RecordingError) -> Void) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        let part = "\(path).part"
        if unsafe unlink(part) != 0, errno != ENOENT { throw .failed(errno) }
        try self.create(part, isSynced: false, write)
        guard unsafe rename(part, path) == 0 else {
            let code = errno
            _ = unsafe unlink(part)
            throw .failed(code)
        }
    }
}
