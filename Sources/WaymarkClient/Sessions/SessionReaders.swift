internal import Synchronization
internal import WaymarkProtocol

/// Why a session has ended; shared by every ``NavigationSession`` of it, which outlive the client's own record.
final class SessionEnding: Sendable {
    private let value = Mutex<EndReason?>(nil)

    /// nil until the session has ended.
    var reason: EndReason? { self.value.withLock { $0 } }

    func set(_ reason: EndReason) { self.value.withLock { $0 = $0 ?? reason } }
}

/// What an app has given a client for one session: readers and handlers.
struct SessionReaders: Sendable {
    var events = Readers<SessionEvent>()
    let onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)?
    let ending: SessionEnding
    /// What runs when the vehicle's user accepts a stop that the app has offered.
    var offers: [InquiryID: @Sendable () async throws -> Void] = [:]
}
