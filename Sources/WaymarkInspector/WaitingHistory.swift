internal import WaymarkProtocol
internal import WaymarkRecording

/// The bytes that waited for the peers of connections to read, over time: each change, the newest up to a number.
package struct WaitingHistory: Sendable {
    struct Sample: Sendable, Hashable {
        let time: RecordingTime
        let connection: ConnectionID
        let bytes: UInt64
    }

    private static let samplesMax = 100_000

    /// Their times ascend.
    private var samples: [Sample] = []
    /// The bytes that wait now, without connections of which none do.
    private var newest: [ConnectionID: UInt64] = [:]

    mutating func note(_ connections: [ConnectionID: ConnectionMeasure], at time: RecordingTime) {
        let time = max(time, self.samples.last?.time ?? time)
        let waiting = connections.mapValues(\.waitingBytes).filter { $0.value > 0 }
        for connection in Set(waiting.keys).union(self.newest.keys).sorted() {
            let bytes = waiting[connection] ?? 0
            if bytes != self.newest[connection] ?? 0 {
                self.samples.append(Sample(time: time, connection: connection, bytes: bytes))
            }
        }
        self.newest = waiting
        if self.samples.count > Self.samplesMax {
            self.samples.removeFirst(self.samples.count - Self.samplesMax / 2)
        }
    }

    /// Those after a time, nil: after none, and not after another.
    func samples(after first: RecordingTime?, to last: RecordingTime) -> ArraySlice<Sample> {
        let begin = first.map { first in self.samples.partitioningIndex { $0.time > first } } ?? 0
        let end = self.samples.partitioningIndex { $0.time > last }
        return self.samples[begin..<max(begin, end)]
    }
}
