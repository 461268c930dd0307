internal import WaymarkProtocol

/// Makes of a recording another one, message by message. A value without I/O.
package protocol RecordingCopy {
    var recording: Recording { get }
    var writer: MCAPWriter { get set }
    /// Adds what becomes of a message; nothing, if it is left out.
    mutating func add(_ message: MCAP.Message)
}

extension RecordingCopy {
    private static var chunkBytesMax: Int { 1_048_576 }

    /// Writes everything, in pieces.
    package mutating func write(
        _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        try output(self.writer.begin(library: Software.name))
        for metadata in self.recording.index.metadata { try output(self.writer.add(metadata)) }
        for index in self.recording.index.attachments {
            try output(self.writer.add(try self.recording.attachment(index)))
        }
        for index in self.recording.index.chunks {
            for message in try self.recording.chunk(index).messages { self.add(message) }
            if self.writer.chunkByteCount >= Self.chunkBytesMax { try output(self.writer.endChunk()) }
        }
        try output(self.writer.endChunk())
        try output(self.writer.end())
    }

    /// Writes everything to a new file.
    ///
    /// - Throws: Also if there is a file; one that could not be written to its end is removed.
    package mutating func write(to path: String) throws(RecordingError) {
        try RecordingFile.create(path) { append throws(RecordingError) in try self.write(append) }
    }
}
