internal import CProtobufC
internal import CWaymarkWire
package import WaymarkProtocol

/// Reads bodies, one after another, and reuses its memory.
///
/// Each connection has one. Once warm it allocates nothing but what the result holds. Not for use by two threads at a time.
package final class BodyDecoder {
    /// What libprotobuf-c may take for one body. 1 MiB of body needs at most a quarter of it, unless it is hostile.
    package static let memoryBytesMax = 32 * 1_024 * 1_024

    private let arena: Arena
    private let memoryBytesMax: Int

    /// A decoder that lets one body take `memoryBytesMax` bytes of memory.
    package init(memoryBytesMax: Int = BodyDecoder.memoryBytesMax) {
        self.arena = Arena(bytesMax: memoryBytesMax)
        self.memoryBytesMax = memoryBytesMax
    }

    /// Reads a frame in full.
    ///
    /// - Throws: ``DecodingError/rejected(_:)`` names the field, and the request if the body has one.
    package func decode(_ frame: Frame) throws(DecodingError) -> Envelope {
        let header = frame.header
        guard let type = header.type else {
            throw .unknownType(isSkippable: header.flags.contains(.skippable))
        }
        let message = try unsafe self.read(header, frame.bytes.span.bytes, type) {
            body, _ throws(Rejection) in
            if MessageType.published.contains(header.rawType) {
                _ = try unsafe PublicationOutline(type, checking: WireMessage(body), header)
            }
            defer {
                // The key in a Hello is not left behind.
                if type == .hello { self.arena.wipe() }
                self.arena.reset()
            }
            return try unsafe Message(type, self.unpack(body, type), header)
        }
        // Those of an extension are in the message.
        let flags = type == .publishExtension ? header.flags.subtracting(.ofExtensions) : header.flags
        return Envelope(message, session: header.session, sequence: header.sequence, flags: flags)
    }

    /// Reads a published frame in full, with the fields that this build does not know.
    ///
    /// - Returns: nil for what is no publication.
    package func publication(of frame: Frame) throws(DecodingError) -> DecodedPublication? {
        let header = frame.header
        guard let type = header.type, MessageType.published.contains(header.rawType) else { return nil }
        return try unsafe self.read(header, frame.bytes.span.bytes, type) {
            body, findings throws(Rejection) in
            _ = try unsafe PublicationOutline(type, checking: WireMessage(body), header)
            defer { self.arena.reset() }
            let content = try unsafe Publication(type, self.unpack(body, type), header)
            guard findings.unknownFields > 0 else { return DecodedPublication(content, nil) }
            return unsafe DecodedPublication(content, UnknownFields(in: Array(body), of: type))
        }
    }

    /// Checks a published frame as ``decode(_:)`` does, but reads only what the gateway must know, and that in place.
    ///
    /// It is only unpacked if that might take more memory than it may; then it is refused as ``decode(_:)`` would.
    ///
    /// Of a skippable frame of an unknown published type only the header is looked at.
    ///
    /// - Throws: ``DecodingError/rejected(_:)`` also for a type that is not published.
    package func outline(of frame: Frame) throws(DecodingError) -> PublicationOutline {
        try unsafe self.outline(of: frame.header, frame.bytes.span.bytes)
    }

    /// The same of a frame, header included, whose header was read before.
    package func outline(
        of header: FrameHeader, _ frame: RawSpan
    ) throws(DecodingError) -> PublicationOutline {
        let isPublished = MessageType.published.contains(header.rawType)
        guard let type = header.type else {
            let isSkippable = header.flags.contains(.skippable)
            if isPublished, isSkippable { return PublicationOutline(unrecognized: header) }
            throw .unknownType(isSkippable: isSkippable)
        }
        guard isPublished else {
            throw .rejected(Rejection(.wrongState, reason: "is not a publication").of(header))
        }
        return try unsafe self.read(header, frame, type) { body, findings throws(Rejection) in
            let outline = try unsafe PublicationOutline(type, checking: WireMessage(body), header)
            if findings.unpackedBytesMax > self.memoryBytesMax {
                // Every receiver would have to unpack it.
                defer { self.arena.reset() }
                _ = try unsafe self.unpack(body, type)
            }
            return outline
        }
    }

    /// Checks a vehicle's request as ``decode(_:)`` does, but reads only what the gateway must know, and that in place.
    ///
    /// - Throws: ``DecodingError/rejected(_:)`` also for a type that is no such request.
    package func request(of frame: Frame) throws(DecodingError) -> ReceivedRequest {
        let header = frame.header
        guard let type = header.type, let vehicleField = type.vehicleField else {
            throw .rejected(Rejection(.wrongState, reason: "is not a vehicle's request").of(header))
        }
        let request = try unsafe self.read(header, frame.bytes.span.bytes, type) {
            body, findings throws(Rejection) -> ReceivedRequest? in
            let message = unsafe WireMessage(body)
            guard findings.unknownFields == 0, findings.unpackedBytesMax <= self.memoryBytesMax,
                message.first(vehicleField) == nil
            else {
                defer { self.arena.reset() }
                // Encoded anew: unknown fields and the vehicle's name are not forwarded.
                return try unsafe ReceivedRequest(Message(type, self.unpack(body, type), header))
            }
            return ReceivedRequest(type, message, frame)
        }
        guard let request else { preconditionFailure("\(type) is not a vehicle's request") }
        return request
    }

    /// Checks the body of a frame and lends it to `use`, with what was found out on the way.
    @inline(__always)
    private func read<Result>(
        _ header: FrameHeader, _ frame: RawSpan, _ type: MessageType,
        _ use: (UnsafeRawBufferPointer, WireCheck.Findings) throws(Rejection) -> Result
    ) throws(DecodingError) -> Result {
        let body = frame.extracting(droppingFirst: FrameHeader.byteCount)
        do {
            return try unsafe body.withUnsafeBytes { body throws(Rejection) in
                let findings = try unsafe WireCheck.check(body, as: type)
                return try unsafe use(body, findings)
            }
        } catch {
            var rejection = error.of(header)
            rejection.requestID = unsafe body.withUnsafeBytes {
                unsafe WireCheck.requestID(in: $0, of: type)
            }
            throw .rejected(rejection)
        }
    }

    private func unpack(_ bytes: UnsafeRawBufferPointer, _ type: MessageType) throws(Rejection) -> AnyWire {
        let message = unsafe self.arena.withAllocator { allocator in
            unsafe protobuf_c_message_unpack(
                type.descriptor, allocator, bytes.count,
                bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
        if let message = unsafe message { return unsafe AnyWire(base: message) }
        guard self.arena.isExhausted else { throw Rejection(.malformed, reason: "is not the type's message") }
        throw Rejection(
            .limitReached, reason: "would take too much memory",
            limit: ReachedLimit("memory_bytes_max", self.memoryBytesMax))
    }
}
