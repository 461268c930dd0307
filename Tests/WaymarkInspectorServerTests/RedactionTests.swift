#if Inspector
    import Foundation
    import Testing
    import WaymarkClient
    import WaymarkCodec
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    /// `--redact places`: nothing that a page gets has places or texts.
    @Suite(.timeLimit(.minutes(2))) struct RedactionTests {
        private static let street = "Geheimgasse"
        private static let place = Waypoint(
            center: Coordinate(latitude: 47.123456, longitude: 9.654321), nameVariants: [Self.street])

        /// Every text that a page can ask for, in one.
        private static func everything(_ bench: Bench) async throws -> String {
            let now = Date()
            let vehicle = Bench.vehicle
            var texts: [String] = []
            for (path, query) in [
                ("sources", ""), ("overview", ""), ("vehicle", "id=\(vehicle)&endpoint=cluster"),
                ("vehicle/tables", "id=\(vehicle)"), ("vehicle/destinations", "id=\(vehicle)"),
                ("route", "id=\(vehicle)"), ("updates", "id=\(vehicle)"), ("entries", ""),
                ("requests", "id=\(vehicle)"), ("findings", ""), ("moments", ""),
                ("lanes", "id=\(vehicle)"),
                ("export", "id=\(vehicle)&format=gpx"),
            ] {
                do throws(InspectorError) {
                    switch try await bench.http.desk.answer(path, try InspectorQuery(query), now: now) {
                    case .json(let data), .file(_, _, let data):
                        texts.append(String(decoding: data, as: UTF8.self))
                    }
                } catch { texts.append(error.reason) }
            }
            let entries = try await bench.http.desk.answer("entries", InspectorQuery(""), now: now)
            struct Entries: Decodable {
                struct Entry: Decodable { let entry: String }
                let entries: [Entry]
            }
            guard case .json(let data) = entries else { return "" }
            for entry in try JSONDecoder().decode(Entries.self, from: data).entries {
                do throws(InspectorError) {
                    let answer = try await bench.http.desk.answer(
                        "frame", try InspectorQuery("entry=\(entry.entry)"), now: now)
                    if case .json(let data) = answer { texts.append(String(decoding: data, as: UTF8.self)) }
                } catch { /* No frame. */  }
            }
            let query = try InspectorQuery("views=overview,entries,vehicle:\(vehicle)")
            let stream = try await bench.http.desk.openStream(query, lastID: "0")
            let (events, _) = await bench.http.desk.events(of: stream, actions: [:], now: now)
            return (texts + events.map(\.text)).joined(separator: "\n")
        }

        /// What of a place is in a text, also in bytes that are shown.
        private static func found(_ text: String) -> [String] {
            let hex = Self.street.utf8.map { String(format: "%02x", $0) }.joined()
            let spaced = Self.street.utf8.map { String(format: "%02x", $0) }.joined(separator: " ")
            return [Self.street, hex, spaced, "47.1234", "9.6543"].filter {
                text.lowercased().contains($0.lowercased())
            }
        }

        private struct Way: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let tell: @Sendable (inout Bench) -> Void
        }

        private static func frame(_ publication: Publication, number: UInt64 = 3) -> Frame {
            Codec.encode(Envelope(.publication(publication), session: Bench.session, sequence: number))
        }

        private static let trip = Publication.startGuidance(
            Trip(id: "trip", origin: Self.place, destination: Self.place), generation: 2, .init())

        /// How the gateway can tell something that has a place.
        private static let ways = [
            Way(testDescription: "a frame with a place") { $0.publish(Self.trip) },
            Way(testDescription: "a frame with a text") { $0.publish(.currentRoadName([Self.street])) },
            Way(testDescription: "a shared destination") {
                $0.publish(.shareDestination(shareID: "s", Self.place))
            },
            Way(testDescription: "a rejected frame") { $0.cross(Self.frame(Self.trip), isRejected: true) },
            Way(testDescription: "a rejected frame with an unknown field") { bench in
                let header = FrameHeader(type: MessageType.currentRoadName.rawValue, session: Bench.session)
                let body = [UInt8](Self.street.utf8)
                bench.cross(
                    Frame(header: header, body: [0xFA, 0x3F, UInt8(body.count)] + body), isRejected: true)
            },
            Way(testDescription: "a frame of an unknown type") { bench in
                let header = FrameHeader(type: 0x01F0, flags: .skippable, session: Bench.session)
                let body = [UInt8](Self.street.utf8)
                bench.cross(Frame(header: header, body: [0x0A, UInt8(body.count)] + body))
            },
            Way(testDescription: "what a session retains") { bench in
                var records = ObservedRecords()
                records.number = 9
                var retained = RetainedFrames(Bench.session, Array(Self.frame(Self.trip).bytes))
                retained.isFirst = true
                records.retained = [retained]
                bench.feed.handle(.received(.observedRecords(records)))
            },
        ]

        @Test(arguments: Self.ways)
        private func `what is told of places reaches a page, unless they are redacted`(_ way: Way)
            async throws
        {
            var open = Bench()
            way.tell(&open)
            #expect(try await !Self.found(Self.everything(open)).isEmpty)
            var redacted = Bench(isRedacted: true)
            way.tell(&redacted)
            #expect(try await Self.found(Self.everything(redacted)) == [])
        }

        // MARK: Actions

        @Test(arguments: [true, false])
        func
            `the text of an action, a prompt and a shared destination name a place, unless they are redacted`(
                _ isRedacted: Bool
            ) async throws
        {
            var settings = ActionDesk.Settings()
            settings.isRedacted = isRedacted
            let drive = try await Drive.start(settings)
            let name = "\(Self.street)"
            try await drive.desk.act(
                #"{"vehicle": "car", "action": "waypoint", "waypoint": {"center": [47.123456, 9.654321], "nameVariants": ["\#(name)"]}}"#
            )
            try await until { try await drive.desk.seen().prompt != nil }
            let sharing = Task { try await drive.session.share(Self.place, shareID: "s") }
            try await until { try await drive.desk.seen().share != nil }
            let seen = try await drive.desk.seen()
            let hidden = Seen.Place(center: nil, nameVariants: ["a hidden place"])
            let shown = Seen.Place(center: [47.123456, 9.654321], nameVariants: [name])
            #expect(seen.prompt?.waypoint == (isRedacted ? hidden : shown))
            #expect(seen.share?.destination == (isRedacted ? hidden : shown))
            #expect(
                seen.done.first?.text == (isRedacted ? "asked for a stop" : "asked for a stop at \(name)"))
            try await drive.desk.act(
                #"{"vehicle": "bus", "action": "destination", "destination": {"center": [47.123456, 9.654321]}}"#
            )
            let text = String(
                decoding: await drive.desk.object("car", since: Date())
                    + drive.desk.object("bus", since: Date()), as: UTF8.self)
            #expect(Self.found(text).isEmpty == isRedacted)
            #expect(text.contains("asked for a drive"))
            sharing.cancel()
            _ = await sharing.result
            await drive.stop()
        }
    }
#endif
