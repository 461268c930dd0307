/// Numbers that are part of the protocol. Both sides count on them; they change with its major version only.
///
/// - Source: Docs/protocol.md, "Limits"; comments in Protos/waymark/v1.
package enum ProtocolConstants {
    /// The minor versions this build speaks.
    package static let versions: ClosedRange<UInt32> = 2...2
    package static let nameBytesMax = 64
    package static let identifierBytesMax = 128
    package static let requestIDBytesMax = 64
    package static let textBytesMax = 512
    package static let textVariantsMax = 8
    package static let shortTextBytesMax = 64
    package static let humanTextBytesMax = 256
    package static let displayNameBytesMax = 128
    package static let localeBytesMax = 35
    package static let credentialBytesMax = 256
    package static let anglesMax = 32
    package static let laneAnglesMax = 16
    package static let lanesMax = 32
    package static let entryPointsMax = 16
    package static let waypointsMax = 64
    package static let routeChoicesMax = 3
    package static let tripPreviewsMax = 12
    package static let alertActionsMax = 2
    package static let maneuversMax = 4_096
    package static let laneGuidancesMax = 4_096
    package static let routeSegmentsMax = 65
    package static let upcomingManeuversMax = 64
    package static let coordinatesMax = 262_144
    package static let speedLimitsMax = 4_096
    package static let speedLimitValueMax: UInt32 = 500
    package static let vehiclesPerSessionMax = 256
    package static let extensionStatesMax = 64
    package static let distanceMetersMax: UInt32 = 50_000_000
    package static let timeSecondsMax: UInt32 = 31_536_000
    package static let displayValueTenthsMax: UInt32 = 99_999_999
    package static let locationThresholdMetersMax: UInt32 = 100_000
    package static let altitudeMeters: ClosedRange<Double> = -12_000...100_000
    package static let utcOffsetMinutes: ClosedRange<Int32> = -840...840
    package static let powerWattsMax: UInt32 = 10_000_000
    package static let chargingTimeSecondsMax: UInt32 = 604_800
    package static let alertDurationMilliseconds: ClosedRange<UInt32> = 5_000...600_000
    package static let priority: ClosedRange<Int32> = -1_000...1_000
    package static let keepaliveMilliseconds: ClosedRange<UInt32> = 1_000...600_000
    package static let receiptsMilliseconds: ClosedRange<UInt32> = 100...60_000
    /// A client gets an Acknowledgement after as many numbers, or after ``acknowledgementMilliseconds``.
    package static let acknowledgementFrames: UInt64 = 64
    package static let acknowledgementMilliseconds: Int64 = 500
    package static let frameBytes: ClosedRange<UInt32> = 4_096...16_777_216
    /// A Hello's frame, header included: the most that a peer can make the gateway buffer before it is admitted.
    package static let helloFrameBytesMax: UInt32 = 4_096
    /// Minutes before a peer may send the same Hello again after a close code whose ``CloseCode/reconnection`` is seldom.
    package static let seldomMinutesMin: Int64 = 10
    /// A peer is gone after this many keepalive intervals of silence.
    package static let keepaliveIntervalsMax: Int64 = 3
}

/// What this side allows one connection. Our own choice, told to the peer in Hello or Welcome where it matters.
package struct ConnectionLimits: Defaultable {
    /// From connecting to a valid Hello.
    package var handshakeTimeout: Duration = .seconds(5)
    /// Between two signs of life, unless the peer asks for another.
    package var keepalive: Duration = .seconds(10)
    /// The shortest interval that a peer gets, whatever it asks for.
    package var keepaliveMin: Duration = .seconds(1)
    /// The longest interval that a peer gets, so that silent peers are noticed.
    package var keepaliveMax: Duration = .seconds(600)
    /// The largest frame, header included.
    package var frameBytesMax: UInt32 = 1_048_576
    /// From our Goodbye to closing the transport.
    package var drainTimeout: Duration = .seconds(2)
    /// More rejected messages than this within ``errorWindow`` close the connection.
    package var errorsMax = 32
    /// See ``errorsMax``.
    package var errorWindow: Duration = .seconds(10)

    package init() {}
}
