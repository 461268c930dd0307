internal import Glibc
internal import ProcessIO

/// The file that keeps the newest epoch of the gateway while the daemon does not run: a clock that is set back must not make an older
/// state look newer than the present one.
///
/// - Source: Docs/protocol.md, "More than one gateway".
package struct EpochFile: Sendable {
    /// The reason for which the file cannot be used. The next epoch may then be lower than an earlier one.
    package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    private let folder: String
    private var path: String { "\(self.folder)/epoch" }

    /// The file in a folder to which only the daemon writes.
    package init(folder: String) { self.folder = folder }

    /// The file in the folder that the service manager gave the daemon for its state, as by `StateDirectory=`; nil if it gave none.
    static var ofService: EpochFile? {
        guard let folders = unsafe getenv("STATE_DIRECTORY") else { return nil }
        return unsafe String(cString: folders).split(separator: ":").first.map {
            EpochFile(folder: String($0))
        }
    }

    /// Chooses and keeps an epoch that is higher than those before. It is `now` unless the clock was set back.
    ///
    /// - Returns: The epoch, and why it may be lower than one before, or one after it may be lower; nil if none can.
    package func next(at now: UInt64) -> (epoch: UInt64, problem: Problem?) {
        var epoch = now
        do throws(Problem) {
            epoch = max(now, try self.last() + 1)
        } catch {
            // A file that is damaged is replaced.
            do throws(Problem) { try self.write(epoch) } catch { /* The first problem is the cause. */  }
            return (epoch, error)
        }
        do throws(Problem) { try self.write(epoch) } catch { return (epoch, error) }
        return (epoch, nil)
    }

    /// Keeps an epoch that was chosen elsewhere, unless a higher one is kept.
    package func keep(_ epoch: UInt64) throws(Problem) {
        if try self.last() < epoch { try self.write(epoch) }
    }

    /// The newest epoch; 0 if none was kept.
    private func last() throws(Problem) -> UInt64 {
        let content: FileContent
        do throws(FileError) { content = try FileContent(path: self.path, bytesMax: 64) } catch {
            guard error != .failed(ENOENT) else { return 0 }
            throw Problem(description: "cannot read \(self.path): \(error)")
        }
        let digits = content.bytes.last == UInt8(ascii: "\n") ? content.bytes.dropLast() : content.bytes[...]
        guard let epoch = UInt64(String(decoding: digits, as: UTF8.self)), epoch < .max else {
            throw Problem(description: "\(self.path) is no epoch")
        }
        return epoch
    }

    /// Replaces the file, and waits until the new one is on its medium.
    private func write(_ epoch: UInt64) throws(Problem) {
        let part = "\(self.path).part"
        do throws(WriteError) {
            let file = try WrittenFile(part)
            try file.append(Array("\(epoch)\n".utf8))
            try file.sync()
            try file.close()
            guard unsafe rename(part, self.path) == 0 else { throw WriteError.failed(errno) }
            try self.syncName()
        } catch {
            throw Problem(description: "cannot write \(self.path): \(error)")
        }
    }

    /// Waits until the folder says on its medium that the file is the new one.
    private func syncName() throws(WriteError) {
        let descriptor = unsafe open(self.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(errno) }
        defer { _ = close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .failed(errno) }
    }
}
