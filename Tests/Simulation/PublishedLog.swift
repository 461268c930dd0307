import ExpectedState
internal import WaymarkModel
internal import WaymarkProtocol

/// The valid publications of a client in one session, by sequence number.
struct PublishedLog {
    struct Entry {
        let frame: Frame
        /// nil for a message type that does not exist.
        let publication: Publication?
    }

    let client: ClientID
    private var entries: [UInt64: Entry] = [:]
    /// The sequence numbers of events, ascending.
    private var events: [UInt64] = []

    init(client: ClientID) { self.client = client }

    /// Adds a publication, unless it is a retransmission.
    mutating func append(_ frame: Frame, _ publication: Publication?) {
        let sequence = frame.header.sequence
        guard self.entries[sequence] == nil else { return }
        self.entries[sequence] = Entry(frame: frame, publication: publication)
        let outline = publication?.outline ?? PublicationOutline(unrecognized: frame.header)
        if outline.conflationKey == nil { self.events.append(sequence) }
    }

    /// Removes the publications after `sequence`, which the gateway did not receive.
    mutating func forget(after sequence: UInt64) {
        for lost in self.entries.keys where lost > sequence { self.entries[lost] = nil }
        self.events.removeAll { $0 > sequence }
    }

    /// The publication with a number; if it is nil, no endpoint may receive one with that number.
    func entry(_ sequence: UInt64) -> Entry? { self.entries[sequence] }

    /// The first event between two numbers, exclusive, that an endpoint must have received.
    func event(after first: UInt64, before last: UInt64, for fitting: ExpectedFitting) -> UInt64? {
        guard let start = self.events.firstIndex(where: { $0 > first }) else { return nil }
        return self.events[start...].first { sequence in
            guard sequence < last, let entry = self.entries[sequence] else { return false }
            if case .shareDestination = entry.publication, self.stopsSharing(after: sequence) {
                return false
            }
            return entry.publication.map(fitting.mustDeliver) ?? true
        }
    }

    /// Whether a later trip does not share its destination, or later previews have another trip. The gateway then drops a waiting share;
    /// publications between the two may arrive without it.
    private func stopsSharing(after first: UInt64) -> Bool {
        self.entries.contains { sequence, entry in
            guard sequence > first else { return false }
            return switch entry.publication {
            case .updateTrip(let trip), .startGuidance(let trip, _, _): !trip.isDestinationShareable
            case .tripPreviews: true
            default: false  // The others have no trip.
            }
        }
    }
}
