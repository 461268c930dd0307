// libFuzzer target: any bytes as a stream of frames, split and read as a connection does, and as the packed differences of a
// line.
// Built and run by scripts/fuzz.sh, not by the package.
import WaymarkCodec
import WaymarkProtocol

nonisolated(unsafe) private let decoder = BodyDecoder()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // However a stream is cut into reads, the same frames come out of it, and it breaks for the same reason.
    let whole = split(bytes, pieceBytes: max(1, count))
    let pieces = split(bytes, pieceBytes: 1 + count % 97)
    precondition(whole.frames == pieces.frames && whole.error == pieces.error, "read differently in pieces")
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

/// What was read can be written and read again; the outline accepts and refuses what the full reading does.
private func check(_ frame: Frame) {
    let outline = Result { () throws(DecodingError) in try decoder.outline(of: frame) }
    switch Result(catching: { () throws(DecodingError) in try decoder.decode(frame) }) {
    case .success(let envelope):
        let again = Result { () throws(DecodingError) in try decoder.decode(Codec.encode(envelope)) }
        precondition(again == .success(envelope), "reads differently the second time")
        guard case .publication(let publication) = envelope.message else { return }
        precondition(outline == .success(publication.outline), "the outline says something else")
    case .failure(let error):
        guard let type = frame.header.type, MessageType.published.contains(type.rawValue) else { return }
        precondition(outline == .failure(error), "the outline is refused for something else")
    }
}

/// A line is refused where reading its points one by one refuses it.
private func checkLine(latitudes: [UInt8], longitudes: [UInt8]) {
    let frame = SlowLine.frame(latitudes: latitudes, longitudes: longitudes)
    check(frame)
    let refusal = SlowLine.refusal(latitudes: latitudes, longitudes: longitudes)
    do throws(DecodingError) {
        _ = try decoder.outline(of: frame)
        precondition(refusal == nil, "a line is taken that is none")
    } catch {
        guard case .rejected(let rejection) = error, let refusal else { preconditionFailure("\(error)") }
        precondition(rejection.code == refusal.code && rejection.field.hasSuffix(".\(refusal.field)"))
    }
}
