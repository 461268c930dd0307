internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

/// A publication and its body, ready to be numbered and sent.
///
/// It is complete. Only its frame leaves out what the gateway withholds, so that nothing is lost when the gateway withholds
/// it no longer.
struct OutgoingPublication: Sendable, Hashable {
    let publication: Publication
    /// Features that its frame leaves out, whatever the gateway withholds.
    let omitted: FeatureSet
    /// nil for an event.
    let key: ConflationKey?
    private let body: ArraySlice<UInt8>

    /// Creates it from a publication and its frame, and validates every field as the gateway will.
    ///
    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` if a field is outside of its range.
    private init(_ publication: Publication, _ frame: Frame, omitting omitted: FeatureSet) throws(ClientError)
    {
        self.publication = publication
        self.omitted = omitted
        self.body = frame.body
        do throws(DecodingError) {
            self.key = try Codec.outline(of: frame).conflationKey
        } catch {
            switch error {
            case .rejected(let rejection):
                throw ClientError(rejection)
            case .unknownType:
                preconditionFailure("the codec writes only what it reads: \(publication.type)")
            }
        }
    }

    /// The size of its complete frame, header included.
    var byteCount: Int { FrameHeader.byteCount + self.body.count }

    /// The share that it offers; nil for everything else.
    var shareID: Identifier? {
        if case .shareDestination(let id, _, _) = self.publication { Identifier(id) } else { nil }
    }

    /// Its frame, without the features and extensions that are withheld; nil if nothing is left of it.
    ///
    /// A share is always sent: its caller waits for the gateway's refusal.
    func frame(
        session: SessionID, sequence: UInt64, without withheld: FeatureSet, _ extensions: Set<ExtensionName>
    ) -> Frame? {
        if case .publishExtension(let published) = self.publication, extensions.contains(published.name) {
            return nil
        }
        var body = self.body
        let withheld = withheld.union(self.omitted)
        if !withheld.isEmpty, self.shareID == nil {
            guard let rest = self.publication.without(withheld) else { return nil }
            if rest != self.publication { body = Codec.encode(Envelope(.publication(rest))).body }
        }
        let envelope = Envelope(.publication(self.publication), session: session, sequence: sequence)
        return Frame(header: envelope.header, body: body)
    }
}

// MARK: Fitting into frames

extension OutgoingPublication {
    /// Splits a publication into its ``Publication/parts`` until every frame has at most `frameBytesMax` bytes, and every list at most
    /// what the protocol allows in one message.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` naming the field that is too large by itself,
    ///   ``ClientError/rejected(field:reason:limit:)`` for one outside of its range.
    static func fitting(
        _ publication: Publication, frameBytesMax: Int, omitting omitted: FeatureSet = []
    ) throws(ClientError) -> [OutgoingPublication] {
        if publication.isWithinCounts {
            let whole = Codec.encode(Envelope(.publication(publication)))
            if whole.bytes.count <= frameBytesMax {
                return [try OutgoingPublication(publication, whole, omitting: omitted)]
            }
        }
        let smaller = publication.parts
        guard !smaller.isEmpty else {
            throw .invalid(
                "\(publication.largestField) does not fit into a frame of \(frameBytesMax) bytes, "
                    + "the most that the gateway takes; make it smaller")
        }
        var fitting: [OutgoingPublication] = []
        for publication in smaller {
            fitting += try Self.fitting(publication, frameBytesMax: frameBytesMax, omitting: omitted)
        }
        return fitting
    }
}

extension Publication {
    /// What to make smaller if this is too large, as a path from the caller's argument.
    fileprivate var largestField: String {
        switch self {
        case .tripPreviews: "trips"
        case .startGuidance, .updateTrip: "trip"
        case .addManeuvers(let all, _): "maneuver \(all.first?.id.rawValue ?? 0)"
        case .addLaneGuidances(let all, _): "lane guidance \(all.first?.id.rawValue ?? 0)"
        case .addRouteSegments(let all, _): "coordinates of segment \(all.first?.id ?? "")"
        case .upcomingManeuvers: "upcomingManeuvers"
        case .currentLaneGuidance: "currentLaneGuidance"
        case .plain(.currentRoadName): "roadName"
        case .plain: "\(self.rule.largestField)"
        case .maneuverState: "maneuverState"
        case .tripEstimates, .maneuverEstimates: "estimates"
        case .currentRouteSegment: "currentSegment"
        case .speedLimit: "speedLimit"
        case .pauseGuidance: "description"
        case .resumeGuidance: "route"
        case .showAlert, .dismissAlert: "alert"
        case .shareDestination: "destination"
        case .publishExtension: "content"
        default: "message"
        }
    }
}
