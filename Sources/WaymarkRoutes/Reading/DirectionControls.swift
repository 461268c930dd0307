package import WaymarkModel
import WaymarkProtocol

/// Closes the controls of writing direction in texts of others: one that stays open reverses what a receiver shows beside the text.
enum DirectionControls {
    private static let isolateEnd: Unicode.Scalar = "\u{2069}"
    private static let embeddingEnd: Unicode.Scalar = "\u{202C}"

    /// `text` without ends that nothing has begun, and with the ends of what stays open; cut between characters if it would have more than
    /// `bytesMax` bytes.
    static func closed(_ text: String, bytesMax: Int = .max) -> String {
        guard text.unicodeScalars.contains(where: { self.end(of: $0) != nil || self.isEnd($0) }) else {
            return text
        }
        var kept = Substring(text)
        while true {
            let (closed, ends) = self.balanced(kept)
            if closed.utf8.count <= bytesMax || kept.isEmpty { return closed }
            // The ends of what is open take three bytes each.
            let room = max(0, bytesMax - 3 * ends)
            var bytes = 0
            let cut = kept.prefix { character in
                bytes += character.utf8.count
                return bytes <= room
            }
            kept = cut.endIndex < kept.endIndex ? cut : kept.dropLast()
        }
    }

    private static func balanced(_ text: Substring) -> (text: String, ends: Int) {
        var balanced = String.UnicodeScalarView()
        var open: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            if let end = self.end(of: scalar) {
                open.append(end)
            } else if scalar == self.isolateEnd {
                // The end of an isolate also ends what was embedded in it.
                guard let begin = open.lastIndex(of: scalar) else { continue }
                open.removeSubrange(begin...)
            } else if scalar == self.embeddingEnd {
                guard open.last == scalar else { continue }
                open.removeLast()
            }
            balanced.append(scalar)
        }
        balanced.append(contentsOf: open.reversed())
        return (String(balanced), open.count)
    }

    /// The character that ends what `scalar` begins; nil for other characters.
    private static func end(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x202A, 0x202B, 0x202D, 0x202E: self.embeddingEnd
        case 0x2066, 0x2067, 0x2068: self.isolateEnd
        default: nil
        }
    }

    private static func isEnd(_ scalar: Unicode.Scalar) -> Bool {
        scalar == self.isolateEnd || scalar == self.embeddingEnd
    }
}

extension Waypoint {
    /// The waypoint of another peer with the controls of writing direction in its texts closed: one that stays open reverses what
    /// a receiver shows beside the text.
    package var closed: Waypoint {
        var waypoint = self
        waypoint.nameVariants = self.nameVariants.map {
            DirectionControls.closed($0, bytesMax: ProtocolConstants.textBytesMax)
        }
        waypoint.addressVariants = self.addressVariants.map {
            DirectionControls.closed($0, bytesMax: ProtocolConstants.textBytesMax)
        }
        return waypoint
    }
}
