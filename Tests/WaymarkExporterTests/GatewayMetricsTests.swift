import Foundation
import Testing
import WaymarkExporter
import WaymarkProtocol
import WaymarkTelemetry

@testable import WaymarkClient

/// What a gateway told.
func reading(_ counters: [CounterReport.Counter], age: Duration = .milliseconds(250)) -> GatewayReading {
    var report = CounterReport()
    report.counters = counters
    return GatewayReading(
        gateway: "bench", version: "waymarkd 0.1.0", start: Date(timeIntervalSince1970: 1_800_000_000.5),
        counters: GatewayCounters([report], GatewayClock(), ObservedPeers()), age: age)
}

private func parsed(_ reading: GatewayReading?, _ format: MetricFormat = .text) throws -> ParsedMetrics {
    try ParsedMetrics(format.text(GatewayMetrics.families(of: reading)), format)
}

@Suite struct GatewayMetricsTests {
    @Test(arguments: MetricFormat.allCases)
    func `both formats are what their specifications say`(_ format: MetricFormat) throws {
        let metrics = try parsed(
            reading([.init(.publications, label: 0x0101, 7), .init(.requestTimes, label: 100, 2)]), format)
        #expect(metrics["waymark_publications_total{type=\"startGuidance\"}"] == 7)
        let names = Metric.all.map { metric in
            switch (metric.kind, format) {
            case (.counter, .text): metric.name + "_total"
            case (.info, .text): metric.name + "_info"
            default: metric.name
            }
        }
        #expect(Set(metrics.families.keys) == Set(names))
        if format == .openMetrics {
            for metric in Metric.all {
                #expect(metrics.families[metric.name]?.unit == metric.unit?.rawValue, "\(metric.name)")
                #expect(metrics.families[metric.name]?.type == metric.kind.rawValue, "\(metric.name)")
            }
        }
    }

    @Test func `names follow the conventions of Prometheus`() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
        for metric in Metric.all {
            #expect(metric.name.wholeMatch(of: /waymark(_[a-z]+)+/) != nil, "\(metric.name)")
            for ending in ["_total", "_info", "_count", "_sum", "_bucket", "_created"] {
                #expect(!metric.name.hasSuffix(ending), "\(metric.name)")
            }
            if let unit = metric.unit {
                #expect(metric.name.hasSuffix("_\(unit.rawValue)"), "\(metric.name)")
            }
        }
    }

    @Test func `without the gateway there is waymark_up 0 and nothing else`() throws {
        #expect(try parsed(nil).values == ["waymark_up": 0])
    }

    @Test func `the gateway is named, with the age of what it told`() throws {
        let metrics = try parsed(reading([]))
        #expect(metrics["waymark_up"] == 1)
        #expect(metrics["waymark_counters_age_seconds"] == 0.25)
        #expect(metrics["waymark_start_time_seconds"] == 1_800_000_000.5)
        #expect(metrics["waymark_build_info{gateway=\"bench\",version=\"waymarkd 0.1.0\"}"] == 1)
    }

    /// A sample for each counter, and the label that the counter has in it. Only the sum of the phases is in none.
    private static let samples: [CounterName: (label: UInt32, sample: String)] = [
        .publications: (
            UInt32(MessageType.tripPreviews.rawValue), "publications_total{type=\"tripPreviews\"}"
        ),
        .publicationsUnchanged: (0, "publications_unchanged_total"),
        .publicationsRejected: (0, "publications_rejected_total"),
        .sessionsOpened: (0, "sessions_opened_total"),
        .sessionsEnded: (
            SessionEndReason.replaced.rawValue, "sessions_ended_total{reason=\"replaced\"}"
        ),
        .requests: (0, "requests_total"),
        .requestsEnded: (Outcome.timedOut.rawValue, "requests_ended_total{outcome=\"timedOut\"}"),
        .snapshots: (0, "snapshots_total"), .resumptions: (0, "resumptions_total"),
        .peersAdmitted: (RoleNumber.observer.rawValue, "peers_admitted_total{role=\"observer\"}"),
        .peersRefused: (CloseCode.idInUse.rawValue, "peers_refused_total{code=\"idInUse\"}"),
        .peersClosed: (CloseCode.slowConsumer.rawValue, "peers_closed_total{code=\"slowConsumer\"}"),
        .entriesDropped: (0, "observer_entries_dropped_total"),
        .deliveries: (
            UInt32(MessageType.currentRoadName.rawValue), "deliveries_total{type=\"currentRoadName\"}"
        ),
        .acknowledgements: (0, "acknowledgements_total"),
        .connectionsAccepted: (0, "connections_accepted_total"),
        .bytesReceived: (0, "received_bytes_total"), .bytesSent: (0, "sent_bytes_total"),
        .conflated: (0, "states_conflated_total"),
        .requestTimes: (10, "request_duration_seconds_bucket{le=\"0.01\"}"),
        .requestMicroseconds: (0, "request_duration_seconds_sum"),
        .receivedDelays: (5, "received_delay_seconds_bucket{le=\"0.005\"}"),
        .receivedDelayMicroseconds: (0, "received_delay_seconds_sum"),
        .shownDelays: (10_000, "shown_delay_seconds_bucket{le=\"10.0\"}"),
        .shownDelayMicroseconds: (0, "shown_delay_seconds_sum"),
        .featuresWithheld: (
            WithheldReason.noConsent.rawValue, "features_withheld_total{reason=\"noConsent\"}"
        ),
        .vehiclesConnected: (0, "vehicles_connected"),
        .endpointsConnected: (0, "peers_connected{role=\"vehicle\"}"),
        .clientsConnected: (0, "peers_connected{role=\"navigation\"}"),
        .observersConnected: (0, "peers_connected{role=\"observer\"}"),
        .requestsOpen: (0, "requests_open"), .retainedBytes: (0, "memory_bytes{ledger=\"retained\"}"),
        .replayBytes: (0, "memory_bytes{ledger=\"replay\"}"),
        .observationBytes: (0, "memory_bytes{ledger=\"observation\"}"), .connections: (0, "connections"),
        .waitingBytes: (0, "memory_bytes{ledger=\"waiting\"}"),
        .inputBytes: (0, "memory_bytes{ledger=\"input\"}"),
        .sessionsInPhase: (SessionPhase.paused.rawValue, "sessions{phase=\"paused\"}"),
        .requestBytes: (0, "memory_bytes{ledger=\"requests\"}"),
        .loopMicroseconds: (0, "loop_latency_seconds"),
    ]

    @Test func `every counter of the gateway is in its metric, to the unit`() {
        #expect(Set(Self.samples.keys) == Set(CounterName.allCases).subtracting([.sessions]))
        for (name, (label, sample)) in Self.samples {
            // More than a floating-point number could hold to the unit.
            let value: UInt64 = 9_007_199_254_740_993
            let isTime = [
                .requestMicroseconds, .loopMicroseconds, .receivedDelayMicroseconds,
                .shownDelayMicroseconds,
            ].contains(name)
            let isBucket = [.requestTimes, .receivedDelays, .shownDelays].contains(name)
            let text = MetricFormat.text.text(
                GatewayMetrics.families(of: reading([.init(name, label: label, value)])))
            let expected = isTime ? "\(Double(value) / 1_000_000)" : "\(value)"
            #expect(text.contains("\nwaymark_\(sample) \(expected)\n"), "\(sample)")
            // A time is also in the buckets above, and among all.
            let count = text.split(separator: "\n").count { $0.hasSuffix(" \(expected)") }
            #expect(isBucket || count == 1, "\(sample)")
        }
    }

    @Test func `series begin at 0, so that growth is seen from the first`() throws {
        let metrics = try parsed(reading([]))
        for series in [
            "waymark_peers_refused_total{code=\"notAuthorized\"}", "waymark_sessions{phase=\"paused\"}",
            "waymark_requests_ended_total{outcome=\"timedOut\"}", "waymark_memory_bytes{ledger=\"waiting\"}",
            "waymark_deliveries_total{type=\"currentRoadName\"}",
            "waymark_request_duration_seconds_bucket{le=\"+Inf\"}",
        ] { #expect(metrics[series] == 0, "\(series)") }
    }

    @Test func `buckets of times contain those before them`() throws {
        let metrics = try parsed(
            reading([
                .init(.requestTimes, label: 10, 1), .init(.requestTimes, label: 100, 2),
                // Of a gateway with other bounds.
                .init(.requestTimes, label: 70, 4), .init(.requestTimes, label: 70_000, 8),
                .init(.requestTimes, label: 0, 16), .init(.requestMicroseconds, 1_500_000),
            ]))
        let name = "waymark_request_duration_seconds"
        for (bound, count) in [
            ("0.01", 1.0), ("0.05", 1), ("0.1", 7), ("60.0", 7), ("90.0", 15), ("+Inf", 31),
        ] { #expect(metrics["\(name)_bucket{le=\"\(bound)\"}"] == count, "\(bound)") }
        #expect(metrics["\(name)_count"] == 31)
        #expect(metrics["\(name)_sum"] == 1.5)
    }

    @Test func `there are fewer than 250 series, whatever a gateway tells`() throws {
        let names = Set(CounterName.allCases.map(\.rawValue)).union([63, 200])
        let hostile = names.flatMap { name in
            ((0..<700).map { $0 } + [0x0101, 0x01FF, .max]).map {
                CounterReport.Counter(name: name, label: $0, 1)
            }
        }
        let metrics = try parsed(reading(hostile))
        #expect(metrics.values.count < 250)
        #expect(metrics["waymark_requests_ended_total{outcome=\"other\"}"] == 693)
        for series in metrics.values.keys { #expect(series.contains("vehicle_id") == false) }
    }

    @Test func `text in labels cannot end them`() throws {
        var hostile = reading([])
        hostile.version = "a\"b\\c\nd"
        let text = MetricFormat.openMetrics.text(GatewayMetrics.families(of: hostile))
        #expect(text.contains("version=\"a\\\"b\\\\c\\nd\""))
    }

    /// What Swift takes for one character may be several scalars, of which one ends a label.
    @Test func `a character of several scalars cannot end a label`() {
        var hostile = reading([])
        hostile.version = "a\r\nb\"\u{301}c\\\u{308}d"
        let text = MetricFormat.openMetrics.text(GatewayMetrics.families(of: hostile))
        let expected = "version=\"a\r\\nb\\\"\u{301}c\\\\\u{308}d\"}"
        #expect(text.utf8.split(separator: UInt8(ascii: "\n")).contains { $0.contains(expected.utf8) })
    }
}

@Suite struct AcceptTests {
    @Test(arguments: [
        "application/openmetrics-text",
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "text/plain;q=0.5, Application/OpenMetrics-Text ; version=1.0.0 ; q=0.6",
    ])
    func `OpenMetrics is served to those who want it`(_ accept: String) {
        #expect(MetricFormat(accept: accept) == .openMetrics)
    }

    @Test(arguments: [
        nil, "", "*/*", "text/plain", "text/html,*/*;q=0.1", "application/openmetrics-text;version=2.0.0",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=0.4,text/plain;q=0.5", ",;=,;q=",
        "application/openmetrics-text;q=nonsense",
    ])
    func `everyone else gets the text format`(_ accept: String?) {
        #expect(MetricFormat(accept: accept) == .text)
    }
}
