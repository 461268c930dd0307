// libFuzzer target: any bytes as a stream of frames, split and read as a connection does.
// Built and run by scripts/fuzz.sh, not by the package.
import WaymarkCodec
import WaymarkProtocol

nonisolated(unsafe) private let decoder = BodyDecoder()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var rest = bytes[...]
    while true {
        let header: FrameHeader
        do {
            guard let read = try FrameHeader.read(from: rest.span.bytes, frameBytesMax: 1 << 16) else {
                break
            }
            header = read
        } catch {
            break
        }
        guard rest.count >= header.frameByteCount else { break }
        check(Frame(header: header, bytes: rest.prefix(header.frameByteCount)))
        rest = rest.dropFirst(header.frameByteCount)
    }
    return 0
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
