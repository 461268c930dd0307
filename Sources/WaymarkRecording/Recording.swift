internal import WaymarkProtocol

/// A recording that is read where it is needed.
package struct Recording: Sendable {
    /// What the recorder says of the recording.
    package struct Origin: Sendable, Hashable {
        /// Of the gateway.
        package let instance: String
        package let software: String
        package let recorder: String
        /// `state`, `content` or `all`.
        package let visibility: String
        /// The recorder removed places.
        package let isRedacted: Bool
        /// Empty: all.
        package let vehicles: String
        /// The number of the file among those of its recorder.
        package let file: String
    }

    static let metadataName = "waymark"
    /// A FileDescriptorSet of all protos.
    package static let descriptorSet = PackageResources.waymark_v1_binpb

    package let source: any ByteSource
    package let index: MCAPIndex
    /// nil for a file of another program.
    package let origin: Origin?
    /// What the channels of a recording have.
    let channels: [UInt16: RecordedChannel]

    package init(_ source: any ByteSource) throws(RecordingError) {
        self.source = source
        self.index = try MCAPIndex(of: source)
        self.channels = self.index.channels.compactMapValues(RecordedChannel.init)
        self.origin = self.index.metadata.first { $0.name == Self.metadataName }.map(Origin.init)
    }

    /// The times of the first and of the last message; nil without any.
    package var times: ClosedRange<RecordingTime>? {
        let statistics = self.index.statistics
        guard statistics.messageCount > 0, statistics.startTime <= statistics.endTime else { return nil }
        return RecordingTime(
            nanoseconds: statistics.startTime)...RecordingTime(
                nanoseconds: statistics.endTime)
    }

    func chunk(_ index: MCAP.ChunkIndex) throws(RecordingError) -> MCAPChunk {
        try MCAPChunk(self.source, index)
    }

    /// A frame that was recorded.
    static func frame(_ data: ArraySlice<UInt8>) -> Frame? {
        let bytes = Array(data)
        do throws(FramingError) {
            let header = try unsafe FrameHeader.read(from: bytes.span.bytes, frameBytesMax: .max)
            guard let header, header.frameByteCount == bytes.count else { return nil }
            return Frame(header: header, bytes: bytes[...])
        } catch { return nil }
    }
}

extension Recording.Origin {
    fileprivate init(_ metadata: MCAP.Metadata) {
        func value(_ key: String) -> String { metadata.values[key] ?? "" }
        self.instance = value("instance")
        self.software = value("software")
        self.recorder = value("recorder")
        self.visibility = value("visibility")
        self.isRedacted = !value("redacted").isEmpty
        self.vehicles = value("vehicles")
        self.file = value("file")
    }
}
