/// What `waymark exporter` tells Prometheus. The names follow Prometheus' conventions: base units, and `_total` behind what only grows.
package struct Metric: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// May grow and shrink.
        case gauge
        /// Only grows, and begins at 0 with the gateway's state. Samples end in `_total`.
        case counter
        case histogram
        /// Always 1; the labels are what it says. Samples end in `_info`.
        case info
    }

    package enum Unit: String, Sendable, Hashable {
        case seconds, bytes
    }

    /// Without the ending of samples; ends in the unit, if there is one.
    package let name: String
    package let kind: Kind
    package let unit: Unit?
    /// The names of the labels.
    package let labels: [String]
    /// One sentence without the stop at its end.
    package let help: String

    private init(
        _ name: String, _ kind: Kind, unit: Unit? = nil, labels: [String] = [], _ help: String
    ) {
        (self.name, self.kind, self.unit, self.labels, self.help) = (name, kind, unit, labels, help)
    }
}

extension Metric {
    package static let up = Metric("waymark_up", .gauge, "Whether the gateway answered: 1 or 0")
    package static let countersAge = Metric(
        "waymark_counters_age_seconds", .gauge, unit: .seconds, "How long ago the gateway told these values")
    package static let build = Metric(
        "waymark_build", .info, labels: ["gateway", "version"], "The gateway's name and software")
    package static let start = Metric(
        "waymark_start_time_seconds", .gauge, unit: .seconds,
        "When the gateway's state began, and with it its counters, since 1970")

    package static let connections = Metric(
        "waymark_connections", .gauge, "Open connections, also those that have not said who they are")
    package static let connectionsAccepted = Metric(
        "waymark_connections_accepted", .counter, "Connections that were accepted")
    package static let vehiclesConnected = Metric(
        "waymark_vehicles_connected", .gauge, "Vehicles with at least one connected endpoint")
    package static let peersConnected = Metric(
        "waymark_peers_connected", .gauge, labels: ["role"],
        "Connected peers; endpoints have the role vehicle")
    package static let peersAdmitted = Metric(
        "waymark_peers_admitted", .counter, labels: ["role"],
        "Peers that were admitted, also those that resumed")
    package static let peersRefused = Metric(
        "waymark_peers_refused", .counter, labels: ["code"], "Peers that the gateway did not admit")
    package static let peersClosed = Metric(
        "waymark_peers_closed", .counter, labels: ["code"],
        "Admitted peers that the gateway closed")
    package static let resumptions = Metric(
        "waymark_resumptions", .counter, "Peers that resumed with their token")

    package static let sessions = Metric(
        "waymark_sessions", .gauge, labels: ["phase"], "Sessions that are open")
    package static let sessionsOpened = Metric(
        "waymark_sessions_opened", .counter, "Sessions that were opened")
    package static let sessionsEnded = Metric(
        "waymark_sessions_ended", .counter, labels: ["reason"], "Sessions that have ended")

    package static let publications = Metric(
        "waymark_publications", .counter, labels: ["type"], "Publications of clients that were accepted")
    package static let publicationsUnchanged = Metric(
        "waymark_publications_unchanged", .counter, "Accepted publications that changed nothing")
    package static let publicationsRejected = Metric(
        "waymark_publications_rejected", .counter, "Publications that were rejected")
    package static let deliveries = Metric(
        "waymark_deliveries", .counter, labels: ["type"],
        "Publications that changed something, counted for each endpoint of their session")
    package static let acknowledgements = Metric(
        "waymark_acknowledgements", .counter, "Acknowledgements that were sent to clients")
    package static let snapshots = Metric(
        "waymark_snapshots", .counter, "Endpoints that were sent the whole state of a session")
    package static let statesConflated = Metric(
        "waymark_states_conflated", .counter,
        "States that newer ones replaced while they waited for a peer that reads slowly")
    package static let featuresWithheld = Metric(
        "waymark_features_withheld", .counter, labels: ["reason"],
        "Features that endpoints were told are withheld from them in a session")

    package static let requests = Metric("waymark_requests", .counter, "Requests of vehicles")
    package static let requestsEnded = Metric(
        "waymark_requests_ended", .counter, labels: ["outcome"], "Requests that have ended")
    package static let requestsOpen = Metric("waymark_requests_open", .gauge, "Requests without an outcome")
    package static let requestDuration = Metric(
        "waymark_request_duration_seconds", .histogram, unit: .seconds,
        "From a request's arrival to its outcome")
    package static let receivedDelay = Metric(
        "waymark_received_delay_seconds", .histogram, unit: .seconds,
        "From when the gateway accepted a publication until an endpoint had received it")
    package static let shownDelay = Metric(
        "waymark_shown_delay_seconds", .histogram, unit: .seconds,
        "From when the gateway accepted a publication until its content was on a display")

    package static let receivedBytes = Metric(
        "waymark_received_bytes", .counter, unit: .bytes, "Bytes that arrived from peers")
    package static let sentBytes = Metric(
        "waymark_sent_bytes", .counter, unit: .bytes, "Bytes that were sent to peers")
    package static let memoryBytes = Metric(
        "waymark_memory_bytes", .gauge, unit: .bytes, labels: ["ledger"],
        "What is kept: of sessions for endpoints that join (retained) and resume (replay), for peers and observers that read slowly "
            + "(waiting, observation), of frames that have not arrived completely (input), and of large open requests (requests)"
    )
    package static let entriesDropped = Metric(
        "waymark_observer_entries_dropped", .counter,
        "Entries that observers missed, because they read too slowly")
    package static let loopLatency = Metric(
        "waymark_loop_latency_seconds", .gauge, unit: .seconds,
        "How long the slowest event loop took to answer when the values were read")

    /// In the order in which they are served.
    package static let all = [
        up, countersAge, build, start, connections, connectionsAccepted, vehiclesConnected, peersConnected,
        peersAdmitted, peersRefused, peersClosed, resumptions, sessions, sessionsOpened, sessionsEnded,
        publications, publicationsUnchanged, publicationsRejected, deliveries, acknowledgements, snapshots,
        statesConflated, featuresWithheld, requests, requestsEnded, requestsOpen, requestDuration,
        receivedDelay, shownDelay,
        receivedBytes, sentBytes, memoryBytes, entriesDropped, loopLatency,
    ]
}
