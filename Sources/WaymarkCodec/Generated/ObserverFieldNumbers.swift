// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldNumber {
    enum Observe {
        static let vehicleIds = 1
        static let clientIds = 2
        static let sessionIds = 3
        static let kinds = 4
        static let state = 5
        static let events = 6
        static let frames = 7
        static let afterNumber = 8
    }

    enum ObservationBegin {
        static let kind = 1
        static let number = 2
        static let instantMicroseconds = 3
    }

    enum DelayCounts {
        static let counts = 1
        static let totalMicroseconds = 2
        static let lastMicroseconds = 3
    }

    enum EndpointDelays {
        static let received = 1
        static let shown = 2
        static let roundTripMicroseconds = 3
    }

    enum EndpointRecord {
        static let endpoint = 1
        static let connectionId = 2
        static let instantMicroseconds = 3
        static let features = 4
        static let limits = 5
        static let preferences = 6
        static let sessionId = 7
        static let audienceId = 8
        static let withheld = 9
        static let settings = 10
        static let receipt = 11
        static let receiveFrameBytesMax = 12
        static let delays = 13
    }

    enum VehicleRecord {
        static let vehicleId = 1
        static let sessionId = 2
        static let navigatesItself = 3
        static let hasStopped = 4
        static let guidanceWanted = 5
        static let routeSource = 6
        static let endpoints = 7
        static let owner = 8
        static let routeFeedback = 9
    }

    enum ClientRecord {
        static let clientId = 1
        static let connectionId = 2
        static let instantMicroseconds = 3
        static let granted = 4
        static let priority = 5
        static let displayName = 6
        static let owner = 7
    }

    enum SessionRecord {
        static let sessionId = 1
        static let clientId = 2
        static let requestId = 3
        static let anyThatAsked = 4
        static let phase = 5
        static let generation = 6
        static let suspended = 7
        static let alertId = 8
        static let optedOut = 9
        static let sharesOpen = 10
    }

    enum RequestKey {
        static let vehicleId = 1
        static let requestId = 2
    }

    enum RequestRecord {
        static let key = 1
        static let messageType = 2
        static let sessionId = 3
        static let clientId = 4
        static let stage = 5
        static let deadlineMicroseconds = 6
    }

    enum RetainedFrames {
        static let sessionId = 1
        static let frames = 2
        static let redacted = 3
        static let isFirst = 4
    }

    enum ObservedRecords {
        static let number = 1
        static let instantMicroseconds = 2
        static let vehicles = 3
        static let clients = 4
        static let sessions = 5
        static let requests = 6
        static let retained = 7
        static let vehiclesGone = 8
        static let clientsGone = 9
        static let sessionsGone = 10
        static let requestsGone = 11
        static let isLast = 12
    }

    enum ObservedEvent {
        static let number = 1
        static let instantMicroseconds = 2
        static let kind = 3
        static let code = 4
        static let reason = 5
        static let connectionId = 6
        static let vehicleIds = 7
        static let clientId = 8
        static let sessionId = 9
        static let requestId = 10
    }

    enum ObservedFrames {
        static let number = 1
        static let instantMicroseconds = 2
        static let direction = 3
        static let connectionId = 4
        static let audienceId = 5
        static let sessionId = 6
        static let redacted = 7
        static let rejected = 8
        static let frames = 9
    }

    enum ObservationGap {
        static let dropped = 1
        static let nextNumber = 2
    }

    enum ReadCounters {
        static let connections = 1
        static let sessions = 2
    }

    enum Counter {
        static let name = 1
        static let label = 2
        static let value = 3
    }

    enum ConnectionMeasure {
        static let connectionId = 1
        static let waitingBytes = 2
        static let inputBytes = 3
        static let conflated = 4
    }

    enum SessionMeasure {
        static let sessionId = 1
        static let sequence = 2
        static let retainedBytes = 3
        static let replayBytes = 4
        static let ageMilliseconds = 5
    }

    enum Counters {
        static let number = 1
        static let instantMicroseconds = 2
        static let counters = 3
        static let connections = 4
        static let sessions = 5
        static let isLast = 6
    }
}
