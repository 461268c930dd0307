#if Inspector
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Testing
    import WaymarkClient
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkProtocol
    import WebClient

    @Suite(.timeLimit(.minutes(2))) struct RouteTests {
        /// Calls routes with the cookie of an open session.
        private static func withSession(
            _ bench: Bench = Bench(),
            _ body: @escaping @Sendable (RouteClient, HTTPFields) async throws -> Void
        ) async throws {
            let client = RouteClient(InspectorResponder(bench.http))
            let opened = try await client.execute(
                uri: "/session", method: .post, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: #"{"token": "\#(Bench.token)"}"#))
            #expect(opened.status == .noContent)
            let set = try #require(opened.headers[.setCookie])
            #expect(set.contains("HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"))
            let cookie = String(set.prefix { $0 != ";" })
            try await body(client, [.cookie: cookie, .contentType: "application/json"])
        }

        private static func object(_ response: RouteClient.Answer) throws -> [String: Any] {
            let data = Data(response.body.readableBytesView)
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }

        /// Each route that answers with JSON, and a key of its answer.
        private static let routes = [
            ("/api/sources", "sources"), ("/api/overview?search=secret&only=guided&sort=id", "vehicles"),
            ("/api/vehicle?id=secretcar&endpoint=cluster", "published"),
            ("/api/vehicle/tables?id=secretcar", "maneuvers"),
            ("/api/vehicle/destinations?id=secretcar", "destinations"), ("/api/route?id=secretcar", "places"),
            ("/api/updates?id=secretcar&limit=5", "rows"), ("/api/entries?kind=frame", "entries"),
            ("/api/requests?id=secretcar", "requests"), ("/api/receipts?id=secretcar", "endpoints"),
            ("/api/findings", "findings"), ("/api/moments", "moments"), ("/api/profiles", "profiles"),
            ("/api/compare?a=live&b=live&vehicle=secretcar", "differences"), ("/api/names", "maneuverTypes"),
            ("/api/actions?id=secretcar", "enabled"), ("/api/lanes?id=secretcar&columns=10", "bands"),
        ]

        @Test(arguments: Self.routes)
        func `a route answers with JSON`(_ uri: String, _ key: String) async throws {
            try await Self.withSession { client, headers in
                let response = try await client.execute(uri: uri, method: .get, headers: headers)
                #expect(response.status == .ok, "\(uri): \(String(buffer: response.body))")
                #expect(response.headers[.contentType] == "application/json")
                #expect(try Self.object(response)[key] != nil)
                let head = try await client.execute(uri: uri, method: .head, headers: headers)
                #expect(head.status == .ok)
                let post = try await client.execute(uri: uri, method: .post, headers: headers)
                #expect(post.status == .methodNotAllowed)
            }
        }

        @Test func `files of the page cross compressed to browsers that accept it`() async throws {
            try await Self.withSession { client, _ in
                var sizes = (crossed: 0, whole: 0)
                for name in try FileManager.default.contentsOfDirectory(atPath: PageResources.folder.path) {
                    let uri = "/page/\(name)"
                    let whole = try await client.execute(uri: uri, method: .get)
                    #expect(whole.headers[.contentEncoding] == nil)
                    let crossed = try await client.execute(
                        uri: uri, method: .get, headers: [.acceptEncoding: "deflate, gzip;q=0.8, br"])
                    #expect(crossed.headers[.contentType] == whole.headers[.contentType])
                    #expect(crossed.headers[.contentLength] == "\(crossed.body.readableBytes)")
                    #expect(crossed.headers[.vary] == "Accept-Encoding")
                    if crossed.headers[.contentEncoding] == "gzip" {
                        #expect(crossed.body.getBytes(at: 0, length: 2) == [0x1f, 0x8b], "\(name)")
                    } else {
                        #expect(crossed.body == whole.body, "\(name)")
                    }
                    sizes.crossed += crossed.body.readableBytes
                    sizes.whole += whole.body.readableBytes
                }
                #expect(sizes.crossed < sizes.whole / 2)
            }
        }

        @Test(arguments: [
            ("", nil), ("gzip", "gzip"), ("GZIP", "gzip"), ("gzip;q=0", nil), ("gzip; q=0.0", nil),
            ("br;q=1, gzip;q=0.5", "gzip"), ("identity", nil), ("x-gzip-not", nil),
        ])
        func `a file is compressed only if the browser says gzip`(_ accepted: String, _ encoding: String?)
            async throws
        {
            try await Self.withSession { client, _ in
                let response = try await client.execute(
                    uri: "/page/app.js", method: .get, headers: [.acceptEncoding: accepted])
                #expect(response.headers[.contentEncoding] == encoding)
            }
        }

        @Test func `every question has a test`() {
            let tested = Set(Self.routes.map { String($0.0.dropFirst(5).prefix { $0 != "?" }) })
            #expect(Set(Inspection.paths).subtracting(tested) == ["export", "frame"])
        }

        @Test(
            arguments: Self.routes.map(\.0) + [
                "/api/export?id=secretcar&format=gpx", "/events?views=overview", "/basemap.geojson",
            ])
        func `without a cookie there is nothing`(_ uri: String) async throws {
            try await Self.withSession { client, _ in
                for cookie in [
                    "", "waymark-80=", "waymark-80=x", "waymark-80=\(Bench.token)", "other=1; waymark=2",
                ] {
                    let response = try await client.execute(
                        uri: uri, method: .get, headers: [.cookie: cookie])
                    #expect(response.status == .unauthorized)
                    let error = try Self.object(response)["error"] as? [String: String]
                    #expect(error?["code"] == "noSession")
                    #expect(!String(buffer: response.body).contains("secret"))
                }
            }
        }

        @Test func `a frame is shown byte by byte`() async throws {
            try await Self.withSession { client, headers in
                let entries = try await client.execute(
                    uri: "/api/entries?kind=frame", method: .get, headers: headers)
                let first = try #require((try Self.object(entries)["entries"] as? [[String: Any]])?.first)
                let entry = try #require(first["entry"] as? String)
                let response = try await client.execute(
                    uri: "/api/frame?entry=\(entry)", method: .get, headers: headers)
                let frame = try Self.object(response)
                #expect((frame["hex"] as? String)?.utf8.count == 2 * (first["bytes"] as? Int ?? 0))
                #expect((frame["tree"] as? [[String: Any]])?.count == 2)
            }
        }

        @Test func `what a client published stays text`() async throws {
            try await Self.withSession { client, headers in
                let response = try await client.execute(
                    uri: "/api/vehicle?id=secretcar", method: .get, headers: headers)
                #expect(response.headers[.contentType] == "application/json")
                let state = try Self.object(response)["published"] as? [String: Any]
                #expect(state?["currentRoadName"] as? [String] == [Bench.road])
                let policy = try #require(response.headers[.contentSecurityPolicy])
                #expect(policy == InspectorHTTP.contentSecurityPolicy)
                for part in [
                    "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'",
                ] {
                    #expect(policy.contains(part))
                }
                #expect(!policy.contains("unsafe"))
            }
        }

        @Test func `the page needs no cookie, and other files are not there`() async throws {
            try await Self.withSession { client, _ in
                let page = try await client.execute(uri: "/", method: .get)
                #expect(page.status == .ok)
                #expect(page.headers[.contentType] == "text/html; charset=utf-8")
                for path in [
                    "/page/../Package.swift", "/page/%2e%2e/PageResources.swift", "/page//etc/passwd",
                    "/etc/passwd",
                    "/page/", "/page", "/index.html", "/page/index.html/", "/favicon.ico",
                    "/page/index.html%00",
                ] {
                    let response = try await client.execute(uri: path, method: .get)
                    #expect(response.status == .notFound, "\(path)")
                }
                #expect(try await client.execute(uri: "/", method: .post).status == .methodNotAllowed)
            }
        }

        @Test func `actions are off, and say why`() async throws {
            try await Self.withSession { client, headers in
                let response = try await client.execute(
                    uri: "/api/act", method: .post, headers: headers,
                    body: ByteBuffer(
                        string: #"{"vehicle": "secretcar", "action": "zoom", "zoomDirection": "in"}"#))
                #expect(response.status == .forbidden)
                let error = try Self.object(response)["error"] as? [String: String]
                #expect(error == ["code": "forbidden", "field": "action", "reason": "started without --act"])
            }
        }

        @Test(
            arguments: [
                ("{}", "vehicle"), (#"{"vehicle": "car"}"#, "action"),
                (#"{"vehicle": "car", "action": "x"}"#, "action"),
                (#"{"vehicle": "car", "action": "waypoint"}"#, "waypoint"),
                (
                    #"{"vehicle": "car", "action": "waypoint", "waypoint": {"center": [91, 0]}}"#,
                    "waypoint.center"
                ),
                (
                    #"{"vehicle": "car", "action": "waypoint", "waypoint": {"center": [1]}}"#,
                    "waypoint.center"
                ),
                (
                    #"{"vehicle": "car", "action": "waypoint", "waypoint": {"center": [1, 2], "x": 1}}"#,
                    "waypoint.x"
                ),
                (#"{"vehicle": "car", "action": "cancel", "reason": "bored"}"#, "reason"),
                (#"{"vehicle": "car", "action": "zoom", "zoomDirection": "sideways"}"#, "zoomDirection"),
                (#"{"vehicle": "car", "action": "settings"}"#, "action"),
                (#"{"vehicle": "car", "action": "settings", "contentStyle": "pink"}"#, "contentStyle"),
                (
                    #"{"vehicle": "car", "action": "answerPrompt", "requestID": "q", "accepted": "yes"}"#,
                    "accepted"
                ),
                (#"{"vehicle": "car", "action": "allow", "sudo": true}"#, "sudo"), ("[]", ""),
                ("no JSON", ""),
            ])
        func `an action with a wrong field is refused by name`(_ body: String, _ field: String) async throws {
            var settings = ActionDesk.Settings()
            settings.address = .unix(path: "/nowhere/at/all")
            try await Self.withSession(Bench(actions: ActionDesk(settings))) { client, headers in
                let response = try await client.execute(
                    uri: "/api/act", method: .post, headers: headers, body: ByteBuffer(string: body))
                #expect(response.status == .badRequest)
                let error = try Self.object(response)["error"] as? [String: String]
                #expect(error?["field"] ?? "" == field)
            }
        }

        @Test func `an action without a gateway says that there is none`() async throws {
            var settings = ActionDesk.Settings()
            settings.address = .unix(path: "/nowhere/at/all")
            try await Self.withSession(Bench(actions: ActionDesk(settings))) { client, headers in
                let response = try await client.execute(
                    uri: "/api/act", method: .post, headers: headers,
                    body: ByteBuffer(string: #"{"vehicle": "secretcar", "action": "allow"}"#))
                #expect(response.status == .serviceUnavailable)
            }
        }

        @Test func `a body that is too long, or no JSON by its type, is refused`() async throws {
            try await Self.withSession { client, headers in
                let long = ByteBuffer(repeating: 0x20, count: InspectorHTTP.bodyBytesMax + 1)
                let response = try await client.execute(
                    uri: "/api/preview", method: .post, headers: headers, body: long)
                #expect(response.status == .contentTooLarge)
                for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
                    var headers = headers
                    headers[.contentType] = type
                    let response = try await client.execute(
                        uri: "/api/preview", method: .post, headers: headers, body: ByteBuffer(string: "{}"))
                    #expect(response.status == .badRequest)
                }
            }
        }

        @Test func `windows that share a stream have filters of their own`() async throws {
            var bench = Bench()
            let views = [
                "overview?only=guided", "overview?only=away", "entries?kind=event",
                "entries?kind=frame&search=austrasse",
            ]
            let text = views.joined(separator: ",").addingPercentEncoding(
                withAllowedCharacters: .alphanumerics)
            var stream = try await bench.http.desk.openStream(
                try InspectorQuery("views=\(try #require(text))"), lastID: nil)
            let now = Date(timeIntervalSince1970: 0)
            func next() async throws -> [String: [String: Any]] {
                let (events, after) = await bench.http.desk.events(of: stream, actions: [:], now: now)
                stream = after
                return try events.reduce(into: [:]) { objects, event in
                    let object = try JSONSerialization.jsonObject(with: event.data) as? [String: Any]
                    if let object, let view = object["view"] as? String { objects[view] = object }
                }
            }
            let first = try await next()
            #expect(Set(first.keys) == Set(views.prefix(2)))
            #expect(first[views[0]]?["order"] as? [String] == ["secretcar"])
            #expect(first[views[1]]?["order"] as? [String] == [])
            bench.publish(.currentRoadName(["Austrasse"]))
            #expect(Set(try await next().keys) == [views[0], views[3]])
            bench.publish(.currentRoadName(["Landstrasse"]))
            #expect(Set(try await next().keys) == [views[0]])
        }

        @Test(arguments: [
            "overview?kind=event", "entries?only=slow", "entries?limit=3", "vehicle?id=x", "overview?sort=x",
        ])
        func `a view with parameters that it does not have is refused`(_ view: String) async throws {
            let text = try #require(view.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            await #expect(throws: InspectorError.self) {
                try await Bench().http.desk.openStream(try InspectorQuery("views=\(text)"), lastID: nil)
            }
        }

        @Test func `bars can be asked for without marks`() async throws {
            try await Self.withSession { client, headers in
                let whole = try await client.execute(uri: "/api/moments", method: .get, headers: headers)
                let bars = try await client.execute(
                    uri: "/api/moments?marks=0", method: .get, headers: headers)
                #expect((try Self.object(bars)["moments"] as? [Any])?.isEmpty == true)
                #expect(
                    try Self.object(bars)["density"] as? [Int] == Self.object(whole)["density"] as? [Int])
            }
        }

        @Test func `a page is told what has changed, once, and goes on where it was`() async throws {
            var bench = Bench()
            let query = try InspectorQuery("views=overview,vehicle:secretcar,entries")
            var stream = try await bench.http.desk.openStream(query, lastID: nil)
            let now = Date(timeIntervalSince1970: 0)
            func next() async -> [String] {
                let (events, after) = await bench.http.desk.events(of: stream, actions: [:], now: now)
                stream = after
                return events.map(\.name)
            }
            #expect(await next() == ["connection", "overview", "vehicle", "beat"])
            #expect(await next() == [])
            bench.publish(.currentRoadName(["Landstrasse"]))
            #expect(await next() == ["overview", "vehicle", "entries"])
            #expect(await next() == [])
            bench.publish(.currentRoadName(["Austrasse"]))
            bench.publish(.currentRoadName(["Schwefelstrasse"]))
            var resumed = try await bench.http.desk.openStream(
                try InspectorQuery("views=entries"), lastID: "3")
            let (events, _) = await bench.http.desk.events(of: resumed, actions: [:], now: now)
            let entries = try #require(events.first { $0.name == "entries" })
            let object = try #require(try JSONSerialization.jsonObject(with: entries.data) as? [String: Any])
            #expect((object["entries"] as? [[String: Any]])?.map { $0["number"] as? Int } == [4, 5])
            resumed = stream
        }
    }
#endif
