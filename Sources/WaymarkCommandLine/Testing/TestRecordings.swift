internal import ArgumentParser
internal import Foundation
internal import ProcessIO
internal import Synchronization
internal import WaymarkHistory
internal import WaymarkRecording
internal import WaymarkRig

/// Where the recordings of runs are written, and of which runs.
struct TestRecordings: Sendable {
    enum Kept: Sendable, Hashable {
        case none
        /// Of runs that did not pass.
        case failed
        case all
    }

    /// The folder for those that failed.
    static let folder = ".waymark"

    private let kept: Kept
    private let folder: String
    /// The name of each scenario, in the order of the files.
    private let names: [String]
    private let failures = FailureCount()

    /// So many recordings of failed runs of one scenario are written: with many seeds all may fail, and each can be run again.
    static let failuresMax = 20

    /// `folder`: where recordings of all runs are written; nil: those of failed ones in ``folder`` under the present folder.
    ///
    /// - Throws: Status 2 if nothing can be written in a folder that was asked for.
    init(_ files: [String], folder: String?, isOff: Bool, under present: String = "") throws {
        self.kept = isOff ? .none : folder == nil ? .failed : .all
        self.folder = folder ?? (present.isEmpty ? Self.folder : "\(present)/\(Self.folder)")
        self.names = Self.names(of: files)
        guard self.kept == .all else { return }
        do throws(RecordingError) { try Self.make(self.folder) } catch {
            Terminal.note("Error: \(self.folder) cannot be written: \(error)")
            throw ExitCode(2)
        }
    }

    /// The files without folders and suffix; a name that was there before has a number.
    static func names(of files: [String]) -> [String] {
        var (counts, used): ([String: Int], Set<String>) = ([:], [])
        return files.map { file in
            let last = file.split(separator: "/").last.map(String.init) ?? ""
            let base =
                last.hasSuffix(ScenarioFiles.suffix)
                ? String(last.dropLast(ScenarioFiles.suffix.count)) : last
            let name = base.isEmpty || base.hasPrefix(".") ? "scenario" + base : base
            var unique = name
            repeat {
                counts[name, default: 0] += 1
                if let count = counts[name], count > 1 { unique = "\(name)-\(count)" }
            } while !used.insert(unique).inserted
            return unique
        }
    }

    /// Every recording that was asked for must be written.
    var areAsked: Bool { self.kept == .all }

    /// Writes the recording of a run, and notes in its result where, or why not. `file`: its place among the files; `isFirst`: it has the
    /// first of the seeds.
    func add(
        _ history: History, to result: inout ScenarioResult, file: Int, isFirst: Bool,
        _ inputs: ScenarioInputs
    ) {
        guard self.keeps(result, isFirst: isFirst), !history.entries.isEmpty,
            self.kept == .all || self.failures.next(of: file) <= Self.failuresMax
        else { return }
        let base = self.folder.hasSuffix("/") ? String(self.folder.dropLast()) : self.folder
        let folder = "\(base)/\(self.names[file])"
        let path = "\(folder)/seed-\(result.seed).mcap"
        var recording = RunRecording(result)
        recording.attachments = inputs.sources
        do throws(RecordingError) {
            if self.kept == .failed { try Self.makeHidden(self.folder) }
            try Self.make(folder)
            try recording.write(history, to: path)
            result.recording = path
        } catch { result.recordingProblem = "\(path) cannot be written: \(error)" }
    }

    private func keeps(_ result: ScenarioResult, isFirst: Bool) -> Bool {
        switch self.kept {
        case .none: return false
        case .all: return true
        case .failed:
            // What must happen with any seed fails with most of them: one recording is enough.
            let hasFailed =
                result.problem != nil || !result.lints.allSatisfy(\.hasPassed)
                || result.expectations.contains { !$0.hasPassed && !$0.isForAnySeed }
            return hasFailed || (isFirst && !result.hasPassed)
        }
    }

    /// Makes a folder, and those that it is in.
    private static func make(_ path: String) throws(RecordingError) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
            _ = try RecordingFolder(path: String(path[..<end]))
        }
        var isFolder: ObjCBool = false
        let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard exists, isFolder.boolValue else { throw .failed(ENOTDIR) }
        guard FileManager.default.isWritableFile(atPath: path) else { throw .failed(EACCES) }
    }

    /// The same, of a folder that no version control should see.
    private static func makeHidden(_ path: String) throws(RecordingError) {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        try self.make(path)
        do throws(WriteError) { try WrittenFile.write(Array("*\n".utf8), to: "\(path)/.gitignore") } catch {
            throw .unsupported("\(error)")
        }
    }
}

/// How many runs of each scenario have failed.
private final class FailureCount: Sendable {
    private let counts = Mutex<[Int: Int]>([:])

    /// Counts one more of a file.
    func next(of file: Int) -> Int {
        self.counts.withLock { counts in
            counts[file, default: 0] += 1
            return counts[file] ?? 1
        }
    }
}
