#if Inspector
    import FakeGateway
    import Foundation
    import Testing
    import WaymarkClient
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    @Suite(.timeLimit(.minutes(2))) struct ActionDeskTests {
        /// A vehicle may not keep a place of the endpoints that the desk has at one time, if it cannot connect.
        @Test func `an endpoint that cannot connect frees its place`() async throws {
            var settings = ActionDesk.Settings()
            settings.address = .unix(path: "/nonexistent/socket")
            let desk = ActionDesk(settings)
            for number in 0..<20 {
                let body = Data(#"{"vehicle": "car\#(number)", "action": "connect"}"#.utf8)
                do throws(InspectorError) {
                    _ = try await desk.act(body)
                    Issue.record("there is nothing to connect to")
                } catch {
                    // Busy would be said if the places were taken.
                    #expect(error.code == .disconnected, "\(number): \(error)")
                }
            }
            let object = try #require(
                try JSONSerialization.jsonObject(with: await desk.object("car19", since: Date()))
                    as? [String: Any])
            let endpoint = try #require(object["endpoint"] as? [String: Any])
            #expect(endpoint["state"] as? String == "refused")
            #expect((endpoint["reason"] as? String)?.isEmpty == false)
            await desk.close()
        }

        // MARK: A display

        private static let small =
            #"{"vehicle": "car", "action": "connect", "profileName": "two-maneuvers", "#
            + #""profile": {"limits": {"maneuversStored": 2}}}"#

        @Test(arguments: [false, true])
        func `connected as a display, the page gets what that display holds and received, and leaves again`(
            _ isRedacted: Bool
        ) async throws {
            var settings = ActionDesk.Settings()
            settings.isRedacted = isRedacted
            let drive = try await Drive.start(settings)
            let ids = (1...3).map { ManeuverID(rawValue: $0) }
            let maneuvers = ids.map { Maneuver(id: $0, type: .leftTurn) }
            try await drive.session.start(
                Trip(id: "t", origin: Drive.place, destination: Drive.place),
                route: RouteInformation(maneuvers: maneuvers, upcomingManeuvers: ids))
            try await drive.desk.act(Self.small)
            // What was received before it was read is told as a whole.
            try await until {
                let endpoint = try await drive.desk.seen().endpoint
                return isRedacted
                    ? endpoint.received?.isEmpty == false : endpoint.held?.maneuvers?.isEmpty == false
            }
            let endpoint = try await drive.desk.seen().endpoint
            #expect(endpoint.configuration == "two-maneuvers" && endpoint.state == "connected")
            // What it holds has places.
            #expect(endpoint.held?.maneuvers?.map(\.id) == (isRedacted ? nil : [1, 2]))
            try await drive.desk.act(#"{"vehicle": "car", "action": "disconnect"}"#)
            let after = try await drive.desk.seen().endpoint
            #expect(after.state == "absent" && after.configuration == nil && after.held == nil)
            await drive.stop()
        }

        @Test func `a configuration that cannot be read is refused, and nothing connects`() async throws {
            let drive = try await Drive.start()
            try await drive.desk.act(#"{"vehicle": "car", "action": "disconnect"}"#)
            do throws(InspectorError) {
                let body = #"{"vehicle": "car", "action": "connect", "profile": {"limits": 2}}"#
                _ = try await drive.desk.act(Data(body.utf8))
                Issue.record("accepted")
            } catch {
                #expect(error.code == .invalid && error.field == "profile")
            }
            #expect(try await drive.desk.seen().endpoint.state == "absent")
            await drive.stop()
        }

        // MARK: Limits

        /// A client that thinks about every stop until the test ends.
        private static func thinking() async throws -> Drive {
            try await Drive.start(onWaypoint: { _ in
                let (never, end) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                end.finish()
                return .decline(.busy)
            })
        }

        private static func stop(_ vehicle: String = "car") -> String {
            #"{"vehicle": "\#(vehicle)", "action": "waypoint", "waypoint": {"center": [47.5, 9.5]}}"#
        }

        @Test func `8 open requests keep further ones waiting, and nothing else`() async throws {
            let drive = try await Self.thinking()
            for _ in 0..<8 { try await drive.desk.act(Self.stop()) }
            for body in [
                Self.stop(), Self.stop("bus"),
                #"{"vehicle": "car", "action": "destination", "destination": {"center": [47.5, 9.5]}}"#,
                #"{"vehicle": "car", "action": "cancel", "reason": "userStopped"}"#,
            ] {
                do throws(InspectorError) {
                    _ = try await drive.desk.act(Data(body.utf8))
                    Issue.record("\(body) is the ninth")
                } catch { #expect(error.code == .busy && error.field == "action", "\(error)") }
            }
            for body in [
                #"{"vehicle": "car", "action": "allow"}"#, #"{"vehicle": "car", "action": "connect"}"#,
                #"{"vehicle": "car", "action": "zoom", "zoomDirection": "in"}"#,
                #"{"vehicle": "car", "action": "wantDestination"}"#,
                #"{"vehicle": "bus", "action": "connect"}"#, #"{"vehicle": "bus", "action": "disconnect"}"#,
            ] { try await drive.desk.act(body) }
            // Shared destinations are answered, too.
            let sharing = Task { try await drive.session.share(Drive.place, shareID: "s")["car"] }
            try await until { try await drive.desk.seen().share != nil }
            try await drive.desk.act(
                #"{"vehicle": "car", "action": "answerShare", "shareID": "share-1", "accepted": true}"#)
            #expect(try await sharing.value == .accepted)
            let request = try #require(
                try await drive.desk.seen().done.last { $0.action == "waypoint" }?.requestID)
            try await drive.desk.act(
                #"{"vehicle": "car", "action": "withdraw", "requestID": "\#(request)"}"#)
            try await until { try await drive.desk.seen().done.contains { $0.outcome == "withdrawn" } }
            // There is a place again.
            try await drive.desk.act(Self.stop())
            try await drive.desk.act(#"{"vehicle": "car", "action": "disconnect"}"#)
            await drive.stop()
        }

        @Test func `of two requests that connect at once, one gets the last place`() async throws {
            let fake = try await FakeGateway.start(closesAfterGoodbye: true)
            var settings = ActionDesk.Settings()
            settings.address = fake.address
            let desk = ActionDesk(settings)
            @Sendable func stop(_ vehicle: String) async -> InspectorError? {
                do throws(InspectorError) {
                    _ = try await desk.act(Data(Self.stop(vehicle).utf8))
                    return nil
                } catch { return error }
            }
            async let first = stop("car")
            try await #require(await fake.next()).welcome()
            #expect(await first == nil)
            for _ in 2...7 { #expect(await stop("car") == nil) }
            async let one = stop("bus")
            async let other = stop("van")
            // Both are connecting.
            let peers = [try #require(await fake.next()), try #require(await fake.next())]
            for peer in peers { try await peer.welcome() }
            let errors = await [one, other].compactMap { $0 }
            #expect(errors.count == 1)
            #expect(errors.first?.code == .busy && errors.first?.field == "action")
            await desk.close()
            await fake.close()
        }

        @Test func `the inspector speaks for 8 vehicles, also if two connect at once`() async throws {
            let gateway = try await Gateway.start()
            var settings = ActionDesk.Settings()
            settings.address = gateway.address("v")
            let desk = ActionDesk(settings)
            for number in 1...7 { try await desk.act(#"{"vehicle": "car\#(number)", "action": "connect"}"#) }
            func connect(_ vehicle: String) async -> InspectorError? {
                do throws(InspectorError) {
                    _ = try await desk.act(Data(#"{"vehicle": "\#(vehicle)", "action": "connect"}"#.utf8))
                    return nil
                } catch { return error }
            }
            async let one = connect("car8")
            async let other = connect("car9")
            let errors = await [one, other].compactMap { $0 }
            #expect(errors.count == 1)
            #expect(errors.first?.code == .busy && errors.first?.field == "vehicle")
            // One that leaves makes room.
            try await desk.act(#"{"vehicle": "car1", "action": "disconnect"}"#)
            #expect(await connect("car10") == nil)
            await desk.close()
            await gateway.stop()
        }

        // MARK: Leaving

        @Test func `an endpoint leaves some time after its last use, but not while it is busy`() async throws
        {
            var settings = ActionDesk.Settings()
            settings.idleTime = .milliseconds(50)
            settings.shareTime = .seconds(600)
            let gateway = try await Gateway.start()
            settings.address = gateway.address("v")
            let desk = ActionDesk(settings)
            let client = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "app"))
            // The gateway keeps the request for the client, which never answers.
            let session = try await client.openSession(
                vehicles: .vehicles(["car"]),
                onWaypoint: { _, _ in
                    let (never, end) = AsyncStream.makeStream(of: Void.self)
                    for await _ in never {}
                    end.finish()
                    return .decline(.busy)
                })
            try await session.start(
                Trip(id: "t", origin: Drive.place, destination: Drive.place), route: .init())
            try await session.whenAccepted()
            try await desk.act(Self.stop())
            try await desk.act(#"{"vehicle": "bus", "action": "connect"}"#)
            #expect(try await desk.seen("bus").done.map(\.action) == ["connect"])
            // It was used later than the other.
            try await until { try await desk.seen("bus").endpoint.state == "absent" }
            let seen = try await desk.seen()
            #expect(seen.endpoint.state == "connected")
            #expect(seen.done.first?.state == "underWay")
            let request = try #require(seen.done.first?.requestID)
            try await desk.act(#"{"vehicle": "car", "action": "withdraw", "requestID": "\#(request)"}"#)
            try await until { try await desk.seen().endpoint.state == "absent" }
            // What was done stays.
            #expect(try await desk.seen().done.map(\.outcome) == ["sent", "withdrawn"])
            #expect(try await desk.seen("bus").done.map(\.outcome) == ["sent"])
            await client.close()
            await desk.close()
            await gateway.stop()
        }

        @Test func `a disconnected endpoint leaves what was done, and ends what was open`() async throws {
            let drive = try await Self.thinking()
            try await drive.desk.act(Self.stop())
            try await drive.desk.act(#"{"vehicle": "car", "action": "zoom", "zoomDirection": "in"}"#)
            try await drive.desk.act(#"{"vehicle": "car", "action": "disconnect"}"#)
            let seen = try await drive.desk.seen()
            #expect(seen.endpoint.state == "absent")
            #expect(seen.done.map(\.action) == ["disconnect", "zoom", "waypoint", "connect"])
            #expect(seen.done.map(\.outcome) == ["sent", "sent", "endpointLeft", "sent"])
            // Also when it is back, and for as long as that takes.
            try await drive.desk.act(#"{"vehicle": "car", "action": "connect"}"#)
            let later = try await drive.desk.seen()
            #expect(later.endpoint.state == "connected")
            #expect(later.done.dropFirst().map(\.id) == seen.done.map(\.id))
            #expect(later.done.dropFirst().map(\.outcome) == seen.done.map(\.outcome))
            await drive.stop()
        }

        @Test func `what was open when the gateway ended the connection has an outcome`() async throws {
            let fake = try await FakeGateway.start(closesAfterGoodbye: true)
            var settings = ActionDesk.Settings()
            settings.address = fake.address
            let desk = ActionDesk(settings)
            async let asked = desk.act(Self.stop())
            let peer = try #require(await fake.next())
            try await peer.welcome()
            _ = try await asked
            #expect(try await desk.seen().done.map(\.state) == ["underWay"])
            try await peer.send(.goodbye(Goodbye(.notAuthorized, reason: "the rules have changed")))
            try await until { try await desk.seen().endpoint.state == "refused" }
            try await until { try await desk.seen().done.first?.state == "ended" }
            let seen = try await desk.seen()
            #expect(seen.done.map(\.outcome) == ["endpointLeft"])
            #expect(seen.endpoint.reason?.contains("the rules have changed") == true)
            await desk.close()
            await fake.close()
        }

        @Test func `only an open request of the inspector can be withdrawn`() async throws {
            let drive = try await Self.thinking()
            try await drive.desk.act(Self.stop())
            let request = try #require(try await drive.desk.seen().done.first?.requestID)
            func withdraw(_ request: String) async throws {
                try await drive.desk.act(
                    #"{"vehicle": "car", "action": "withdraw", "requestID": "\#(request)"}"#)
            }
            await #expect(throws: InspectorError.self) { try await withdraw("other") }
            try await withdraw(request)
            try await until {
                try await drive.desk.seen().done.last { $0.action == "waypoint" }?.outcome == "withdrawn"
            }
            await #expect(throws: InspectorError.self) { try await withdraw(request) }
            await drive.stop()
        }
    }
#endif
