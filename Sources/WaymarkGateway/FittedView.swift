package import WaymarkProtocol

/// A session as endpoints of one profile see it.
package struct FittedView: Sendable, Hashable {
    package enum Result: Sendable, Hashable {
        /// The received bytes fit as they are.
        case asReceived
        /// These instead, in order; empty withholds it.
        case fitted([Publication])
    }

    package let profile: Profile

    package init(profile: Profile) { self.profile = profile }

    /// Cuts the next publication of the session to the profile.
    package mutating func fit(_ publication: Publication) -> Result { .asReceived }
}
