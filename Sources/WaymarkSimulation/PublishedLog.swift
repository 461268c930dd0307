internal import WaymarkModel
internal import WaymarkProtocol

/// What a client published into one session and the gateway must take, by its number.
struct PublishedLog {
    struct Entry {
        let frame: Frame
        /// nil for a type that no build knows.
        let publication: Publication?
    }

    let client: ClientID
    private var entries: [UInt64: Entry] = [:]
    /// Numbers of what is an event, rising.
    private var events: [UInt64] = []

    init(client: ClientID) { self.client = client }

    /// Notes a publication, unless it is one that is sent again.
    mutating func append(_ frame: Frame, _ publication: Publication?) {
        let sequence = frame.header.sequence
        guard self.entries[sequence] == nil else { return }
        self.entries[sequence] = Entry(frame: frame, publication: publication)
        if publication?.outline.conflationKey == nil { self.events.append(sequence) }
    }

    /// The gateway did not get what came after `sequence`.
    mutating func forget(after sequence: UInt64) {
        for lost in self.entries.keys where lost > sequence { self.entries[lost] = nil }
        self.events.removeAll { $0 > sequence }
    }

    /// nil: nothing of this number may reach anybody.
    func entry(_ sequence: UInt64) -> Entry? { self.entries[sequence] }

    /// The first event between two numbers that an endpoint must have got.
    func event(after first: UInt64, before last: UInt64, for cut: Cut) -> UInt64? {
        guard let start = self.events.firstIndex(where: { $0 > first }) else { return nil }
        return self.events[start...].first { sequence in
            guard sequence < last, let entry = self.entries[sequence] else { return false }
            if case .shareDestination = entry.publication, self.stopsSharing(after: sequence) {
                return false
            }
            return entry.publication.map(cut.letsThrough) ?? true
        }
    }

    /// Whether a later trip does not share its destination: it drops a share that waits, and what was published in between arrives
    /// before that trip.
    private func stopsSharing(after first: UInt64) -> Bool {
        self.entries.contains { sequence, entry in
            guard sequence > first else { return false }
            return switch entry.publication {
            case .updateTrip(let trip), .startGuidance(let trip, _, _): !trip.isDestinationShareable
            default: false  // The others have no trip.
            }
        }
    }
}
