internal import Foundation
internal import ProcessIO
internal import WaymarkRecording

/// The files in a recording, written to a folder.
enum RecordedFiles {
    /// Writes all of them, and prints their paths. Files that are there stay.
    static func write(
        of recording: Recording, _ input: RecordingCommand.Input, to folder: String
    ) throws {
        for index in recording.index.attachments {
            let attachment: MCAP.Attachment
            do throws(RecordingError) { attachment = try recording.attachment(index) } catch {
                throw input.failure(error)
            }
            let path = "\(folder)/\(self.path(of: attachment.name))"
            do {
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try WrittenFile.write(attachment.data, to: path, isNew: true)
            } catch {
                throw CommandFailure("\(path) cannot be written: \(CommandFailure.reason(error))")
            }
            Terminal.line(Terminal.printable(path))
        }
    }

    /// A name as a path that does not leave its folder.
    static func path(of name: String) -> String {
        let parts = name.split(separator: "/").filter { !["", ".", ".."].contains($0) }
        return parts.isEmpty ? "attachment" : parts.joined(separator: "/")
    }
}
