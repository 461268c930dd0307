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
        /// nil for a recording of `waymark record`.
        package let run: Run?
    }

    /// The run of a scenario that was recorded.
    package struct Run: Sendable, Hashable {
        /// As the user named the file.
        package let scenario: String
        package let seed: String
        /// `virtual` or `real`.
        package let clock: String
        /// `passed`, `failed` or `broken`.
        package let verdict: String

        package init(scenario: String, seed: String, clock: String, verdict: String) {
            (self.scenario, self.seed, self.clock, self.verdict) = (scenario, seed, clock, verdict)
        }

        /// For the metadata.
        package var values: [String: String] {
            ["scenario": self.scenario, "seed": self.seed, "clock": self.clock, "verdict": self.verdict]
        }
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

    /// Texts and places of some frames are missing.
    package var hasRedactedFrames: Bool {
        self.channels.values.contains { channel in
            if case .frames(let frames) = channel { frames.isRedacted } else { false }
        }
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
        self.run = metadata.values["scenario"].map {
            Recording.Run(
                scenario: $0, seed: value("seed"), clock: value("clock"), verdict: value("verdict"))
        }
    }
}
