internal import WaymarkProtocol

/// The features that are withheld from an endpoint until another SnapshotBegin, and why: all but those that the trip withholds.
///
/// An endpoint that is told a list is told another one when a reason changes, too.
struct WithheldReasons: Sendable, Hashable, Codable {
    /// The reason's number in 4 bits for each content feature, at its own number; 0 for a feature that is not withheld.
    private var bits: UInt64 = 0

    init(_ withheld: [FeatureGrant] = []) {
        for grant in withheld {
            guard let reason = grant.withheld, reason != .tripOptedOut else { continue }
            self.bits |= UInt64(reason.rawValue) << Self.shift(grant.feature)
        }
    }

    /// The place of a feature's reason. Speed limits have the place of requests, which no session withholds.
    private static func shift(_ feature: Feature) -> UInt64 {
        4 * UInt64((feature == .speedLimit ? .requests : feature).rawValue)
    }
}
