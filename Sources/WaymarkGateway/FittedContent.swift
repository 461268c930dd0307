package import WaymarkModel
package import WaymarkProtocol

extension Profile {
    /// What an endpoint of this profile holds of a session, once everything has arrived.
    ///
    /// - Parameters:
    ///   - retained: What the session retains, in the publisher's order.
    ///   - lastNamed: The maneuvers that were named last as upcoming ones, if the newest publication names none.
    ///   - lastLaneGuidance: The lane guidance that was named last as the current one, if the newest publication names none.
    /// - Returns: What the endpoint would be sent if it joined now. Its content is what endpoints hold that joined before.
    package func fit(
        _ retained: [Publication], lastNamed: [ManeuverID] = [], lastLaneGuidance: LaneGuidanceID? = nil
    ) -> [Publication] {
        self.parts(of: retained, lastNamed: lastNamed, lastLaneGuidance: lastLaneGuidance).flatMap(\.self)
    }

    /// As ``fit(_:lastNamed:lastLaneGuidance:)``, for each publication; empty for one of which nothing is sent.
    package func parts(
        of retained: [Publication], lastNamed: [ManeuverID] = [], lastLaneGuidance: LaneGuidanceID? = nil
    ) -> [[Publication]] {
        guard !self.isIdentity else { return retained.map { [$0] } }
        var route = StoredRoute()
        for publication in retained { route.apply(publication) }
        route.name(lastNamed, lastLaneGuidance)
        var view = FittedView(profile: self)
        return retained.map { publication in
            switch view.fit(publication, route) {
            case .asReceived: [publication]
            case .fitted(let publications): publications
            }
        }
    }

    /// What is left of what a publication was fitted to, in frames that are no longer than the endpoint reads: divided, and shortened.
    /// `coder` encodes and decodes the bodies of the frames.
    package func shorten(_ publications: [Publication], _ coder: BodyCoder) -> [Publication] {
        guard self.frameBytesMax < .max, let first = publications.first else { return publications }
        var (parts, frames) = (FittedParts(), PublishedFrames())
        _ = parts.set(
            publications, of: FrameHeader(type: first.type.rawValue), self.frameBytesMax, nil, coder)
        while !parts.isEmpty { _ = parts.encodeNext(self.frameBytesMax, coder, into: &frames) }
        return frames.frames.compactMap { coder.decode($0.frame)?.content }
    }
}
