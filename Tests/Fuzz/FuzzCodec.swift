// libFuzzer target: decodes any bytes as a stream of frames, as a connection does, and as the packed differences of a line; removes the
// places of frames, as for observers.
// scripts/fuzz.sh builds and runs it.
import WaymarkCodec
import WaymarkProtocol

nonisolated(unsafe) private let decoder = BodyDecoder()

/// libFuzzer calls it with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // The division into reads changes neither the frames nor the error.
    let whole = split(bytes, pieceBytes: max(1, count))
    let pieces = split(bytes, pieceBytes: 1 + count % 97)
    precondition(
        whole.frames == pieces.frames && whole.error == pieces.error, "different frames when read in pieces")
    for frame in whole.frames { check(frame) }
    checkLine(latitudes: Array(bytes[..<(count / 2)]), longitudes: Array(bytes[(count / 2)...]))
    return 0
}

private func split(_ bytes: [UInt8], pieceBytes: Int) -> (frames: [Frame], error: FramingError?) {
    var splitter = FrameSplitter(frameBytesMax: 1 << 16)
    var frames: [Frame] = []
    for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
        splitter.append(Array(bytes[start..<min(bytes.count, start + pieceBytes)]))
        do throws(FramingError) { while let frame = try splitter.next() { frames.append(frame) } } catch {
            return (frames, error)
        }
    }
    return (frames, nil)
}

/// A decoded frame can be encoded and decoded again, and the outline accepts and rejects the same frames as decoding.
private func check(_ frame: Frame) {
    let outline = Result { () throws(DecodingError) in try decoder.outline(of: frame) }
    switch Result(catching: { () throws(DecodingError) in try decoder.decode(frame) }) {
    case .success(let envelope):
        let again = Result { () throws(DecodingError) in try decoder.decode(Codec.encode(envelope)) }
        precondition(again == .success(envelope), "decodes to another value the second time")
        checkRedaction(of: frame)
        guard case .publication(let publication) = envelope.message else { return }
        precondition(outline == .success(publication.outline), "the outline differs")
    case .failure(let error):
        guard let type = frame.header.type else { return checkUnknown(outline, frame.header) }
        guard MessageType.published.contains(type.rawValue) else { return }
        precondition(outline == .failure(error), "the outline is rejected for another reason")
    }
}

/// Without its places it is one frame, from which nothing more is removed.
private func checkRedaction(of frame: Frame) {
    let redacted = Codec.redacted(frame.bytes)
    precondition(redacted == Codec.redacted(redacted), "places are left")
    let (frames, error) = split(redacted, pieceBytes: redacted.count)
    precondition(frames.count == 1 && error == nil, "the redacted frame is no frame")
    precondition(frames[0].bytes.count == redacted.count, "bytes are left behind the redacted frame")
}

/// Of a type that this build does not know, the header says what a frame is.
private func checkUnknown(_ outline: Result<PublicationOutline, DecodingError>, _ header: FrameHeader) {
    guard MessageType.published.contains(header.rawType), header.flags.contains(.skippable) else {
        precondition(outline == .failure(.unknownType(isSkippable: header.flags.contains(.skippable))))
        return
    }
    let key = ConflationKey(rawType: header.rawType, item: UInt32(header.key))
    precondition(
        outline.map(\.conflationKey) == .success(header.flags.contains(.state) ? key : nil),
        "the outline is not what the header says")
}

/// A line is rejected exactly if decoding its points one by one rejects it.
private func checkLine(latitudes: [UInt8], longitudes: [UInt8]) {
    let frame = SlowLine.frame(latitudes: latitudes, longitudes: longitudes)
    check(frame)
    let refusal = SlowLine.refusal(latitudes: latitudes, longitudes: longitudes)
    do throws(DecodingError) {
        _ = try decoder.outline(of: frame)
        precondition(refusal == nil, "an invalid line is accepted")
    } catch {
        guard case .rejected(let rejection) = error, let refusal else { preconditionFailure("\(error)") }
        precondition(rejection.code == refusal.code && rejection.field.hasSuffix(".\(refusal.field)"))
    }
}
