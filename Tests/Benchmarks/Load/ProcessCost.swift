import CEpoll
import Glibc

/// The resources that a process has used so far, read from /proc.
struct ProcessCost {
    /// The processor time of all its threads in nanoseconds.
    var processorTime: UInt64 = 0
    var residentKiB: UInt64 = 0
    /// Of that, what it allocated: not the pages of its program, which become resident as they are first used.
    var anonymousKiB: UInt64 = 0

    /// - Returns: nil if there is no such process.
    init?(of process: pid_t) {
        let folder = "/proc/\(process)"
        guard let status = Self.text(of: "\(folder)/status"), let tasks = opendir("\(folder)/task") else {
            return nil
        }
        defer { closedir(tasks) }
        for line in status.split(separator: "\n") {
            let value = line.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }.first ?? 0
            if line.hasPrefix("VmRSS:") { self.residentKiB = value }
            if line.hasPrefix("RssAnon:") { self.anonymousKiB = value }
        }
        while let entry = readdir(tasks) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix(".") else { continue }
            // Nanoseconds on a processor, nanoseconds waiting for one, time slices.
            let schedule = Self.text(of: "\(folder)/task/\(name)/schedstat")
            self.processorTime += schedule?.split(separator: " ").first.flatMap { UInt64($0) } ?? 0
        }
    }

    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 8_192, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
        }
    }
}

/// Clocks, in nanoseconds.
enum Clock {
    @inline(__always)
    static func now() -> UInt64 { self.read(CLOCK_MONOTONIC) }

    /// The processor time of this process.
    static func ownProcessorTime() -> UInt64 { self.read(CLOCK_PROCESS_CPUTIME_ID) }

    @inline(__always)
    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
