package import WaymarkModel

/// The fields of a publication whose numbers this build does not know, for the frames that the gateway makes from it.
///
/// Each piece of bytes is a message reduced to these fields, and to the messages in it that have some. A list in it has all its elements,
/// so that each is at its index; the parts of a route and the trips of previews are apart, by their ids.
package final class UnknownFields: Sendable {
    /// A part that frames made from other publications can have as well.
    package enum Part: Sendable, Hashable {
        case maneuver(ManeuverID)
        case laneGuidance(LaneGuidanceID)
        /// By the bytes of its id.
        case segment([UInt8])
        /// By the bytes of its id; of trip previews.
        case trip([UInt8])
        /// The whole UpdateManeuverEstimates.
        case estimates(ManeuverID)

        /// Frames made from later publications may have it.
        fileprivate var isOfRoute: Bool {
            switch self {
            case .maneuver, .laneGuidance, .estimates: true
            case .segment, .trip: false
            }
        }
    }

    package typealias Parts = [Part: [UInt8]]

    /// The type of the publication.
    package let type: UInt16
    /// The body without ``parts``.
    package let body: [UInt8]
    package let parts: Parts
    /// Those of earlier publications along the same route; nil if the endpoint stores all of the route.
    private let route: Parts?

    package init(type: UInt16, body: [UInt8], parts: Parts, route: Parts? = nil) {
        self.type = type
        self.body = body
        self.parts = parts
        self.route = route
    }

    /// What frames made from a publication with the fields `own` need, if the endpoint stores a part of the route only.
    package static func joining(
        _ own: UnknownFields?, _ type: UInt16, route: Parts?
    ) -> UnknownFields? {
        guard let route else { return own }
        return UnknownFields(type: type, body: own?.body ?? [], parts: own?.parts ?? [:], route: route)
    }

    /// The parts that frames made from later publications may need.
    package var partsOfRoute: Parts { self.parts.filter { $0.key.isOfRoute } }

    /// A part, reduced; nil if it has no such field.
    package subscript(part: Part) -> [UInt8]? {
        // Estimates change: the route has the newest.
        if case .estimates = part, let route { return route[part] }
        return self.parts[part] ?? self.route?[part]
    }
}

extension UnknownFields: Hashable {
    package static func == (lhs: UnknownFields, rhs: UnknownFields) -> Bool {
        lhs.type == rhs.type && lhs.body == rhs.body && lhs.parts == rhs.parts && lhs.route == rhs.route
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.type)
        hasher.combine(self.body)
    }
}

/// A publication that was read in full.
///
/// Why a class: the content is large, and several views look at it.
package final class DecodedPublication: Sendable {
    package let content: Publication
    /// nil for none.
    package let unknown: UnknownFields?

    package init(_ content: Publication, _ unknown: UnknownFields?) {
        self.content = content
        self.unknown = unknown
    }
}
