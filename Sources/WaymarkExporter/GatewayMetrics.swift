package import Foundation
package import WaymarkClient
internal import WaymarkProtocol
package import WaymarkTelemetry

/// What a scrape knows of the gateway.
package struct GatewayReading: Sendable, Hashable {
    package var gateway: String
    package var version: String
    /// When the gateway's state began.
    package var start: Date
    package var counters: GatewayCounters
    /// How long ago the gateway told the counters.
    package var age: Duration

    package init(
        gateway: String, version: String, start: Date, counters: GatewayCounters, age: Duration
    ) {
        (self.gateway, self.version, self.start, self.counters, self.age) = (
            gateway, version, start, counters, age
        )
    }
}

/// A gateway's counters as metrics. No label is an id of a vehicle or a client; there are fewer than 250 series, whatever a gateway
/// tells.
package struct GatewayMetrics: Sendable {
    package typealias Family = (metric: Metric, samples: [Sample])

    private let reading: GatewayReading

    /// The metrics of a scrape, in the order of ``Metric/all``. `reading` is nil if the gateway does not answer.
    package static func families(of reading: GatewayReading?) -> [Family] {
        guard let reading else { return [(.up, [Sample(.whole(0))])] }
        return GatewayMetrics(reading: reading).families
    }

    private var families: [Family] {
        var families: [Family] = [
            (.up, [Sample(.whole(1))]), (.countersAge, [Sample(.real(self.reading.age / .seconds(1)))]),
            (
                .build,
                [
                    Sample(
                        .whole(1), [("gateway", self.reading.gateway), ("version", self.reading.version)])
                ]
            ), (.start, [Sample(.real(self.reading.start.timeIntervalSince1970))]),
        ]
        families += Self.single.map { ($0.metric, [Sample(.whole(self.reading.counters[$0.counter]))]) }
        families += Self.labelled.map { ($0.metric, self.samples($0.counter, $0.metric, $0.labels)) }
        families += Self.composed.map { ($0.metric, self.samples($0.metric, $0.parts)) }
        families.append(
            (
                .requestDuration,
                self.durations(.requestTimes, .requestMicroseconds, RequestTimeBound.milliseconds)
            ))
        families.append(
            (
                .receivedDelay,
                self.durations(.receivedDelays, .receivedDelayMicroseconds, DelayBound.milliseconds)
            ))
        families.append(
            (
                .shownDelay, self.durations(.shownDelays, .shownDelayMicroseconds, DelayBound.milliseconds)
            ))
        families.append((.loopLatency, [Sample(.real(self.microseconds(.loopMicroseconds)))]))
        let places = Dictionary(Metric.all.enumerated().map { ($1.name, $0) }) { $1 }
        return families.sorted { places[$0.metric.name, default: 0] < places[$1.metric.name, default: 0] }
    }

    /// In seconds.
    private func microseconds(_ counter: GatewayCounter) -> Double {
        Double(self.reading.counters[counter]) / 1_000_000
    }

    // MARK: Which counter is which metric

    private static let single: [(counter: GatewayCounter, metric: Metric)] = [
        (.connections, .connections), (.connectionsAccepted, .connectionsAccepted),
        (.vehiclesConnected, .vehiclesConnected), (.resumptions, .resumptions),
        (.sessionsOpened, .sessionsOpened), (.publicationsUnchanged, .publicationsUnchanged),
        (.publicationsRejected, .publicationsRejected), (.acknowledgements, .acknowledgements),
        (.snapshots, .snapshots), (.conflated, .statesConflated), (.requests, .requests),
        (.requestsOpen, .requestsOpen), (.bytesReceived, .receivedBytes), (.bytesSent, .sentBytes),
        (.entriesDropped, .entriesDropped),
    ]

    /// Labels that are always there, so that a query of growth sees where a series begins.
    private static let labelled: [(counter: GatewayCounter, metric: Metric, labels: [String])] = [
        (.peersAdmitted, .peersAdmitted, ["vehicle", "navigation", "observer"]),
        (.peersRefused, .peersRefused, Self.closeCodes), (.peersClosed, .peersClosed, Self.closeCodes),
        (.sessionsInPhase, .sessions, SessionPhase.allCases.map { "\($0)" }),
        (
            .sessionsEnded, .sessionsEnded,
            SessionEndReason.allCases.filter { $0 != .unrecognized }.map { "\($0)" }
        ), (.publications, .publications, Self.publishedTypes),
        (.deliveries, .deliveries, Self.publishedTypes),
        (.featuresWithheld, .featuresWithheld, WithheldReason.allCases.map { "\($0)" }),
        (.requestsEnded, .requestsEnded, Outcome.allCases.map { "\($0)" }),
    ]

    private static let composed: [(metric: Metric, parts: [(label: String, counter: GatewayCounter)])] = [
        (
            .peersConnected,
            [
                ("vehicle", .endpointsConnected), ("navigation", .clientsConnected),
                ("observer", .observersConnected),
            ]
        ),
        (
            .memoryBytes,
            [
                ("retained", .retainedBytes), ("replay", .replayBytes), ("waiting", .waitingBytes),
                ("observation", .observationBytes), ("input", .inputBytes), ("requests", .requestBytes),
            ]
        ),
    ]

    private static let publishedTypes = MessageType.allCases.filter {
        MessageType.published.contains($0.rawValue)
    }.map { "\($0)" }

    /// Those that a gateway sends.
    private static let closeCodes = CloseCode.allCases.filter {
        ![.internalError, .moved, .rateLimited].contains($0)
    }.map { "\($0)" }

    // MARK: Samples

    /// Labels that this build does not know share `other`.
    private func samples(_ counter: GatewayCounter, _ metric: Metric, _ labels: [String]) -> [Sample] {
        var values = Dictionary(labels.map { ($0, UInt64(0)) }) { $1 }
        var other: UInt64 = 0
        for value in self.reading.counters.values where value.name == counter.rawValue {
            if values[value.label] == nil {
                other &+= value.value
            } else {
                values[value.label, default: 0] &+= value.value
            }
        }
        let name = metric.labels.first ?? ""
        let known = labels.map { Sample(.whole(values[$0, default: 0]), [(name, $0)]) }
        return other == 0 ? known : known + [Sample(.whole(other), [(name, "other")])]
    }

    private func samples(
        _ metric: Metric, _ parts: [(label: String, counter: GatewayCounter)]
    ) -> [Sample] {
        let name = metric.labels.first ?? ""
        return parts.map { Sample(.whole(self.reading.counters[$0.counter]), [(name, $0.label)]) }
    }

    /// Prometheus wants each bucket to contain the ones before it.
    private func durations(
        _ counter: GatewayCounter, _ sumCounter: GatewayCounter, _ bounds: [UInt32]
    ) -> [Sample] {
        var counts = Dictionary(bounds.map { (UInt64($0), UInt64(0)) }) { $1 }
        var total: UInt64 = 0
        for value in self.reading.counters.values where value.name == counter.rawValue {
            total &+= value.value
            // What a newer gateway counts by another bound belongs to the next one here.
            guard let milliseconds = UInt64(value.label),
                let bound = bounds.first(where: { $0 >= milliseconds })
            else { continue }
            counts[UInt64(bound), default: 0] &+= value.value
        }
        var (samples, sum): ([Sample], UInt64) = ([], 0)
        for bound in bounds {
            sum &+= counts[UInt64(bound), default: 0]
            samples.append(Sample(.whole(sum), [("le", "\(Double(bound) / 1_000)")], suffix: "_bucket"))
        }
        samples.append(Sample(.whole(total), [("le", "+Inf")], suffix: "_bucket"))
        samples.append(Sample(.real(self.microseconds(sumCounter)), suffix: "_sum"))
        samples.append(Sample(.whole(total), suffix: "_count"))
        return samples
    }
}
