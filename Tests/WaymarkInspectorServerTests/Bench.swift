#if Inspector
    import Foundation
    import WaymarkClient
    import WaymarkCodec
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    /// An inspector of a gateway that is not there: what it tells is made up.
    struct Bench {
        static let token = "T0ken-T0ken-T0ken-T0ken-T0ken-T0ken-T0ken-T"
        static let vehicle = "secretcar"
        /// What a client published as the name of the road.
        static let road = "</script><script>alert('secretroad')</script>"
        static let session = SessionID(7)

        let feed: LiveFeed
        let http: InspectorHTTP
        var number: UInt64 = 0

        init(actions: ActionDesk? = nil, isRedacted: Bool = false) {
            self.feed = LiveFeed("unix:/nowhere", isRedacted: isRedacted)
            var options = Inspection.Options()
            options.isRedacted = isRedacted
            options.actRefusal = actions == nil ? "started without --act" : nil
            options.profiles = ["full": Data(#"{"description": "Shows everything."}"#.utf8)]
            let desk = InspectorDesk(options, feed: self.feed, recordings: [])
            self.http = InspectorHTTP(
                desk, actions: actions, files: PageFiles(folder: PageResources.folder),
                basemap: Data(#"{"type":"FeatureCollection","features":[]}"#.utf8),
                sessions: PageSessions(token: Self.token))
            self.begin()
        }

        private mutating func begin() {
            var welcome = Welcome(resumptionToken: ResumptionToken(high: 0, low: 0))
            welcome.visibility = .all
            self.feed.handle(.state(.connected(resumed: false)))
            self.feed.handle(.welcomed(welcome))
            self.feed.handle(
                .received(.observationBegin(ObservationBegin(.full, after: 0, at: Instant(nanoseconds: 0)))))
            var records = ObservedRecords()
            var endpoint = EndpointRecord(EndpointName(unchecked: "cluster"))
            (endpoint.connection, endpoint.session, endpoint.audience) = (ConnectionID(2), Self.session, 1)
            endpoint.features = FeatureSet(Feature.allCases)
            var vehicle = VehicleRecord(VehicleID(unchecked: Self.vehicle))
            (vehicle.session, vehicle.endpoints) = (Self.session, [endpoint])
            var client = ClientRecord(ClientID(unchecked: "app"))
            (client.connection, client.granted) = (ConnectionID(1), FeatureSet(Feature.allCases))
            records.vehicles = [vehicle]
            records.clients = [client]
            records.sessions = [SessionRecord(Self.session, of: client.client)]
            records.isLast = true
            self.feed.handle(.received(.observedRecords(records)))
            let destination = Waypoint(center: Coordinate(latitude: 47.14, longitude: 9.52))
            self.publish(
                .startGuidance(
                    Trip(id: "trip", origin: destination, destination: destination), generation: 1, .init()))
            self.publish(.currentRoadName([Self.road]))
        }

        /// The client publishes something.
        mutating func publish(_ publication: Publication) {
            self.cross(
                Codec.encode(
                    Envelope(.publication(publication), session: Self.session, sequence: self.number + 1)))
        }

        /// A frame goes to the gateway, which may reject it.
        mutating func cross(_ frame: Frame, isRejected: Bool = false) {
            self.number += 1
            var told = ObservedFrames(.in, Array(frame.bytes))
            told.isRejected = isRejected
            (told.number, told.connection, told.session) = (self.number, ConnectionID(1), Self.session)
            told.instant = Instant(nanoseconds: Int64(self.number) * 1_000_000)
            self.feed.handle(.received(.observedFrames(told)))
        }
    }
#endif
