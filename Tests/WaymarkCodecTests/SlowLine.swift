import WaymarkProtocol

/// Packed differences read byte by byte, as protobuf describes them and the protos limit them: what the check of a line is
/// compared with. Tests/Fuzz uses it, too.
struct SlowLine {
    /// The values, as far as they were read.
    private(set) var sums: [Int64] = []
    /// What the value behind them is refused for.
    private(set) var refusal: ErrorCode?

    init(_ bytes: [UInt8], within bound: Int64) {
        var rest = bytes[...]
        while !rest.isEmpty, self.refusal == nil {
            let length = (rest.firstIndex { $0 < 0x80 } ?? rest.endIndex) - rest.startIndex + 1
            guard length <= min(rest.count, 10) else {
                self.refusal = .malformed
                return
            }
            let groups = rest.prefix(length).map { UInt64($0 & 0x7F) }
            if length == 10, groups[9] > 1 { self.refusal = .malformed } else { self.add(groups, bound) }
            rest = rest.dropFirst(length)
        }
    }

    private mutating func add(_ groups: [UInt64], _ bound: Int64) {
        var raw: UInt64 = 0
        for group in groups.reversed() { raw = raw << 7 | group }
        guard raw <= UInt64(UInt32.max) else {
            self.refusal = .outOfRange
            return
        }
        let difference = raw % 2 == 0 ? Int64(raw / 2) : -1 - Int64(raw / 2)
        let sum = (self.sums.last ?? 0) + difference
        if abs(sum) > bound { self.refusal = .outOfRange } else { self.sums.append(sum) }
    }

    /// A frame that adds one segment with these packed differences.
    static func frame(latitudes: [UInt8], longitudes: [UInt8]) -> Frame {
        let body = WireWriter.body {
            $0.message(2) { segment in
                segment.text(1, "s")
                segment.message(2) { $0.message(1) { _ in } }
                segment.message(3) { $0.message(1) { _ in } }
                segment.message(4) {
                    $0.bytes(1, latitudes)
                    $0.bytes(2, longitudes)
                }
            }
        }
        return Frame(.addRouteSegments, body: body)
    }

    /// What such a frame is refused for: the field within the line and the code.
    static func refusal(latitudes: [UInt8], longitudes: [UInt8]) -> (field: String, code: ErrorCode)? {
        let latitude = SlowLine(latitudes, within: 90_000_000)
        if let code = latitude.refusal { return ("latitude_e6_deltas[\(latitude.sums.count)]", code) }
        let longitude = SlowLine(longitudes, within: 180_000_000)
        if let code = longitude.refusal { return ("longitude_e6_deltas[\(longitude.sums.count)]", code) }
        return latitude.sums.count == longitude.sums.count ? nil : ("longitude_e6_deltas", .inconsistent)
    }
}
