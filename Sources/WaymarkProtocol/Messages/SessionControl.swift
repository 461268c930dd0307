/// Which vehicles a session is for.
package enum VehicleSelection: Sendable, Hashable, Codable {
    /// These, now or when they connect; 1 ... 256, no repeats.
    case vehicles([VehicleID])
    /// Every vehicle that wants guidance and is free, now and later.
    case anyThatAsked
}

/// Client to gateway: opens a session.
package struct OpenSession: Sendable, Hashable {
    package var requestID: Identifier
    package var vehicles: VehicleSelection
    /// 0: no receipts.
    package var receiptsEveryMilliseconds: UInt32

    package init(requestID: Identifier, vehicles: VehicleSelection, receiptsEveryMilliseconds: UInt32 = 0) {
        self.requestID = requestID
        self.vehicles = vehicles
        self.receiptsEveryMilliseconds = receiptsEveryMilliseconds
    }
}

/// The reason why a session, or one vehicle's part in it, ended.
///
/// - Source: `waymark.v1.SessionEndReason`.
package enum SessionEndReason: UInt32, Sendable, Hashable, CaseIterable, Codable {
    case finished = 1
    case cancelledByClient = 2
    case ownNavigationStarted = 3
    case userStopped = 4
    case replaced = 5
    case clientGone = 6
    case vehicleGone = 7
    case notAuthorized = 10
    /// A reason that this build does not know. The gateway never sends it.
    case unrecognized = 2_147_483_647
}

/// A vehicle's part in a session.
package enum VehicleStanding: Sendable, Hashable {
    case joined
    case awaited
    case refused(ErrorCode)
    case left(SessionEndReason)
}

/// One endpoint of a vehicle in a session.
package struct EndpointStatus: Sendable, Hashable {
    package var endpoint: EndpointName
    package var isReady: Bool
    package var locale: String
    /// What is withheld from it, and why.
    package var withheld: [FeatureGrant]

    package init(endpoint: EndpointName, isReady: Bool, locale: String = "", withheld: [FeatureGrant] = []) {
        self.endpoint = endpoint
        self.isReady = isReady
        self.locale = locale
        self.withheld = withheld
    }
}

/// One vehicle's standing, and what its endpoints do not receive.
package struct VehicleStatus: Sendable, Hashable {
    package var vehicle: VehicleID
    package var standing: VehicleStanding
    package var endpoints: [EndpointStatus]

    package init(vehicle: VehicleID, standing: VehicleStanding, endpoints: [EndpointStatus] = []) {
        self.vehicle = vehicle
        self.standing = standing
        self.endpoints = endpoints
    }
}

/// Gateway to client: the session is open.
package struct SessionOpened: Sendable, Hashable {
    package var requestID: Identifier
    package var session: SessionID
    package var vehicles: [VehicleStatus]

    package init(requestID: Identifier, session: SessionID, vehicles: [VehicleStatus]) {
        self.requestID = requestID
        self.session = session
        self.vehicles = vehicles
    }
}

/// The session is over for the receiver.
package struct SessionEnded: Sendable, Hashable, Codable {
    package var session: SessionID
    package var reason: SessionEndReason

    package init(session: SessionID, reason: SessionEndReason) {
        self.session = session
        self.reason = reason
    }
}

/// Gateway to endpoint: what follows, up to the end mark, is the session's retained state or what was missed.
package struct SnapshotBegin: Sendable, Hashable {
    /// - Source: `waymark.v1.SnapshotKind`.
    package enum Kind: UInt32, Sendable, Hashable, CaseIterable {
        case full = 1
        case missed = 2
    }

    package var kind: Kind
    package var client: ClientID
    package var clientDisplayName = ""
    /// The client is disconnected.
    package var isSuspended = false
    /// 0: receipts are not wanted.
    package var receiptsEveryMilliseconds: UInt32 = 0
    package var withheld: [FeatureGrant] = []
    /// The number that the endpoint resumed from; 0 if the snapshot is full.
    package var fromSequence: UInt64 = 0
    /// Up to which number the endpoint holds the session after SnapshotEnd.
    package var toSequence: UInt64 = 0
    /// How long ago the last publication was accepted; nil for none.
    package var ageMilliseconds: UInt32?
    /// The age of the newest estimates; nil if the session has none.
    package var estimatesAgeMilliseconds: UInt32?

    package init(kind: Kind, client: ClientID) {
        self.kind = kind
        self.client = client
    }
}

/// Gateway to endpoint: the client is disconnected.
package struct SessionSuspended: Sendable, Hashable {
    package var graceMilliseconds: UInt32
    /// How long ago the last publication was accepted; nil for none.
    package var ageMilliseconds: UInt32?
    /// The age of the newest estimates; nil if the session has none.
    package var estimatesAgeMilliseconds: UInt32?

    package init(
        graceMilliseconds: UInt32, ageMilliseconds: UInt32? = nil, estimatesAgeMilliseconds: UInt32? = nil
    ) {
        self.graceMilliseconds = graceMilliseconds
        self.ageMilliseconds = ageMilliseconds
        self.estimatesAgeMilliseconds = estimatesAgeMilliseconds
    }
}

/// Endpoint to gateway: up to where it has received and shown the session.
package struct Receipt: Sendable, Hashable, Codable {
    package var receivedSequence: UInt64
    /// At most ``receivedSequence``.
    package var shownSequence: UInt64
    /// The time of the endpoint's clock when it had received ``receivedSequence``; nil: not told.
    package var receivedNanoseconds: UInt64?
    /// The same of ``shownSequence``, when its content was on the display.
    package var shownNanoseconds: UInt64?

    package init(
        receivedSequence: UInt64, shownSequence: UInt64, receivedNanoseconds: UInt64? = nil,
        shownNanoseconds: UInt64? = nil
    ) {
        self.receivedSequence = receivedSequence
        self.shownSequence = shownSequence
        self.receivedNanoseconds = receivedNanoseconds
        self.shownNanoseconds = shownNanoseconds
    }
}

/// One endpoint's receipt.
package struct EndpointReceipt: Sendable, Hashable {
    package var vehicle: VehicleID
    package var endpoint: EndpointName
    /// The receipt without its times, which are by the endpoint's clock.
    package var receipt: Receipt
    /// The time from when the gateway accepted the received number until the endpoint had it; nil: not measured.
    package var receivedDelayMicroseconds: UInt64?
    /// The same of the shown number, until its content was on the display.
    package var shownDelayMicroseconds: UInt64?

    package init(vehicle: VehicleID, endpoint: EndpointName, receipt: Receipt) {
        self.vehicle = vehicle
        self.endpoint = endpoint
        self.receipt = receipt
        self.receipt.receivedNanoseconds = nil
        self.receipt.shownNanoseconds = nil
    }
}

/// Gateway to client: the newest receipt of each endpoint.
package struct ReceiptReport: Sendable, Hashable {
    /// The last sequence number that the gateway has received.
    package var gatewaySequence: UInt64
    package var endpoints: [EndpointReceipt]

    package init(gatewaySequence: UInt64, endpoints: [EndpointReceipt]) {
        self.gatewaySequence = gatewaySequence
        self.endpoints = endpoints
    }
}
