#if Inspector
    import Foundation
    import ListeningSockets
    import NIOCore
    import NIOPosix
    import Testing
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkTransport
    import WaymarkWeb
    import WebClient

    /// Requests that other sites, other users of names, and guessers could send. None gets anything.
    @Suite(.timeLimit(.minutes(3))) struct HostileTests {
        struct Attack: Sendable, CustomTestStringConvertible {
            let name: String
            /// `HOST` and `ORIGIN` stand for the server's own, `COOKIE` for a cookie that is good.
            let text: String
            var testDescription: String { self.name }
        }

        private static let data = "/api/overview"
        private static let act = #"{"vehicle": "secretcar", "action": "allow"}"#

        private static func get(_ path: String, host: String = "HOST", _ fields: [String] = []) -> String {
            let lines = ["GET \(path) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
            return lines.joined(separator: "\r\n") + "\r\n\r\n"
        }

        private static func post(
            _ path: String, host: String = "HOST", _ fields: [String], _ body: String
        ) -> String {
            let lines =
                [
                    "POST \(path) HTTP/1.1", "Host: \(host)", "Connection: close",
                    "Content-Length: \(body.utf8.count)",
                ]
                + fields
            return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
        }

        // MARK: The table

        /// Also with a good cookie: the browser sends it along if it is made to.
        private static var hosts: [Attack] {
            let hosts = [
                "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1",
                "127.0.0.1:PORT.evil.example",
                "127.0.0.1.evil.example:PORT", "127.attacker.example:PORT", "localhost.evil.example:PORT",
                "0.0.0.0:PORT", "[::]:PORT", "[::1]:PORT", "2130706433:PORT", "0x7f.1:PORT", "127.1:PORT",
                "127.0.0.2:PORT", "evil@127.0.0.1:PORT", "127.0.0.1:PORT@evil.example", "127.0.0.1:PORT.",
                "127.0.0.1.:PORT", "127.0.0.1:0PORT", "http://127.0.0.1:PORT", "", "rebind.network:PORT",
                "localtest.me:PORT", "127.0.0.1.nip.io:PORT", "localhost", "localhost:1", "LOCALHOST.:PORT",
            ]
            return hosts.flatMap { host in
                ["/", "/api/sources", Self.data].map { path in
                    Attack(
                        name: "Host \(host) for \(path)", text: Self.get(path, host: host, ["Cookie: COOKIE"])
                    )
                }
            }
        }

        private static let origins = [
            "http://evil.example", "https://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1",
            "https://HOST", "http://HOST.evil.example", "http://evil.example#http://HOST", "file://", "",
            "http://HOST/", "http://HOST http://evil.example", "HTTP://HOST", "ORIGIN, http://evil.example",
            "chrome-extension://abcdef", "http://localhost.evil.example", "http://[::1]:1", "ftp://HOST", "*",
            "http://",
        ]

        private static var crossSite: [Attack] {
            let json = "Content-Type: application/json"
            return Self.origins.flatMap { origin in
                [
                    Attack(
                        name: "act from origin \(origin)",
                        text: Self.post("/api/act", ["Origin: \(origin)", json, "Cookie: COOKIE"], Self.act)),
                    Attack(
                        name: "session from origin \(origin)",
                        text: Self.post(
                            "/session", ["Origin: \(origin)", json], #"{"token": "\#(Bench.token)"}"#)),
                    Attack(
                        name: "data to origin \(origin)",
                        text: Self.get(Self.data, ["Origin: \(origin)", "Cookie: COOKIE"])),
                    Attack(
                        name: "events to origin \(origin)",
                        text: Self.get("/events?views=overview", ["Origin: \(origin)", "Cookie: COOKIE"])),
                ]
            }
        }

        private static var fetched: [Attack] {
            ["cross-site", "same-site", "evil", "none, cross-site"].flatMap { site in
                ["no-cors", "cors", "websocket"].flatMap { mode in
                    ["script", "image", "iframe", "empty", "embed"].map { destination in
                        Attack(
                            name: "fetched by \(site) \(mode) \(destination)",
                            text: Self.get(
                                Self.data,
                                [
                                    "Cookie: COOKIE", "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: \(mode)",
                                    "Sec-Fetch-Dest: \(destination)",
                                ]))
                    }
                }
            }
        }

        private static var forms: [Attack] {
            [
                "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
                "application/json-seq", "text/json", "application/jsonp",
            ].flatMap { type in
                ["/api/act", "/api/preview", "/session"].map { path in
                    Attack(
                        name: "\(path) as \(type)",
                        text: Self.post(
                            path, ["Origin: ORIGIN", "Content-Type: \(type)", "Cookie: COOKIE"],
                            path == "/session" ? #"{"token": "\#(Bench.token)"}"# : Self.act))
                }
            }
        }

        private static var guesses: [Attack] {
            let cookies = [
                "", "waymark-PORT=", "waymark-PORT=\(Bench.token)", "waymark-PORT=null",
                "waymark-PORT=../../etc",
                "waymark-1=COOKIEVALUE", "waymark=COOKIEVALUE", "WAYMARK-PORT=COOKIEVALUE",
                "waymark-PORT=COOKIEVALUEx",
                "waymark-PORT=xCOOKIEVALUE", "waymark-PORT= COOKIEVALUEx", "waymark-PORT=\"COOKIEVALUE\"",
                "a=waymark-PORT=COOKIEVALUE", "waymark-PORT=%00", String(repeating: "a", count: 4_000),
            ]
            return cookies.flatMap { cookie in
                [Self.data, "/events?views=overview", "/basemap.geojson"].map { path in
                    Attack(
                        name: "cookie \(cookie.prefix(40)) for \(path)",
                        text: Self.get(path, ["Cookie: \(cookie)"]))
                }
            }
                + ["?token=\(Bench.token)", "?cookie=COOKIEVALUE", "?access_token=\(Bench.token)"].map {
                    Attack(name: "secret in the query", text: Self.get(Self.data + $0))
                }
                + ["Bearer \(Bench.token)", "Basic eDp5"].map {
                    Attack(name: "authorization", text: Self.get(Self.data, ["Authorization: \($0)"]))
                }
        }

        private static var framing: [Attack] {
            let smuggled = Self.get(Self.data, ["Cookie: COOKIE"]).replacing(
                "Host: HOST", with: "Host: evil.example")
            return [
                Attack(
                    name: "two hosts", text: Self.get(Self.data, ["Host: evil.example", "Cookie: COOKIE"])),
                Attack(
                    name: "absolute target",
                    text: Self.get("http://evil.example/api/overview", ["Cookie: COOKIE"]).replacing(
                        "Host: HOST", with: "Host: evil.example")),
                Attack(
                    name: "length and chunks",
                    text: Self.post(
                        "/session", ["Origin: ORIGIN", "Transfer-Encoding: chunked"], "0\r\n\r\n" + smuggled)),
                Attack(
                    name: "two lengths",
                    text: Self.post("/session", ["Origin: ORIGIN", "Content-Length: 5"], "{}" + smuggled)),
                Attack(
                    name: "a line break in a field", text: Self.get("/api/none", ["X: a\nCookie: COOKIE"])),
                Attack(
                    name: "upgrade",
                    text: Self.get("/events?views=overview", ["Upgrade: websocket", "Connection: Upgrade"])),
                Attack(name: "no version", text: "GET /api/overview\r\n\r\n"),
                Attack(name: "version 3", text: "GET /api/overview HTTP/3.0\r\nHost: HOST\r\n\r\n"),
                Attack(
                    name: "CONNECT", text: "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n"
                ),
                Attack(name: "TRACE", text: Self.get("/").replacing("GET", with: "TRACE")),
                Attack(
                    name: "a head that is too long",
                    text: Self.get("/" + String(repeating: "a", count: 30_000))),
                Attack(
                    name: "a body that is too long",
                    text: Self.post(
                        "/session", ["Origin: ORIGIN", "Content-Type: application/json"],
                        String(repeating: " ", count: 70_000))),
            ]
        }

        private static var paths: [Attack] {
            [
                "/../../../../etc/passwd", "/page/../../Package.swift", "/page/%2e%2e/%2e%2e/Package.swift",
                "//etc/passwd",
                "/page/..%2f..%2fetc%2fpasswd", "/page/\\..\\..\\etc", "/api/../api/overview",
                "/api//overview", "/API/overview",
                "/api/overview/", "/api/overview%00", "/api/overview;x", "/.git/config", "/api", "/debug",
                "/metrics",
                "/page/index.html::$DATA", "/%61pi/overview",
            ].map { Attack(name: "path \($0)", text: Self.get($0)) }
        }

        private static var injected: [Attack] {
            [
                "<script>alert(1)</script>", "%3Cscript%3Ealert(1)%3C/script%3E", "';DROP TABLE vehicles;--",
                "%0d%0aSet-Cookie:x=1",
                "{{7*7}}", "$(id)", "../../x", "%F0%9F%92%A9", "%ff", "\u{202E}",
            ].flatMap { text in
                ["vehicle?id=", "frame?entry=", "export?format=gpx&id=", "overview?only="].map { path in
                    Attack(name: "\(path)\(text)", text: Self.get("/api/\(path)\(text)", ["Cookie: COOKIE"]))
                }
            }
        }

        static let all =
            Self.hosts + Self.crossSite + Self.fetched + Self.forms + Self.guesses + Self.framing + Self.paths
            + Self.injected

        @Test func `there are at least 200 of them`() {
            #expect(Self.all.count >= 200)
            #expect(Set(Self.all.map(\.text)).count == Self.all.count)
        }

        // MARK: Trying

        private static func exchange(
            _ port: Int, _ text: String, meanwhile: @Sendable () async throws -> Void = {}
        ) async throws -> String {
            try await WebClient(port: port).exchange(text, meanwhile: meanwhile)
        }

        private static func status(_ answer: String) -> Int {
            Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
        }

        @Test func `none of them gets anything, and the server goes on`() async throws {
            try await Self.withServer { port, host in try await Self.tryAll(port, host) }
        }

        private static func withServer(
            _ body: @escaping @Sendable (_ port: Int, _ host: String) async throws -> Void
        ) async throws {
            let bench = Bench()
            let server = try await LoopbackServer.open(
                try LoopbackAddress("127.0.0.1:0"), names: ["localhost"], InspectorResponder(bench.http))
            guard case .tcp(_, let port) = server.address.address else { return }
            try await withThrowingTaskGroup { group in
                group.addTask { await server.run() }
                group.addTask {
                    do { try await body(Int(port), "127.0.0.1:\(port)") } catch {
                        await server.close()
                        throw error
                    }
                    await server.close()
                }
                try await group.waitForAll()
            }
        }

        /// Opens a session, and returns its cookie with its name.
        private static func openSession(_ port: Int, _ host: String) async throws -> String {
            let open = Self.post(
                "/session", ["Origin: http://\(host)", "Content-Type: application/json"],
                #"{"token": "\#(Bench.token)"}"#)
            let opened = try await self.exchange(port, open.replacing("HOST", with: host))
            let line = try #require(
                opened.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie:") })
            return String(line.dropFirst(11).prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces)
        }

        private static func tryAll(_ port: Int, _ host: String) async throws {
            let cookie = try await Self.openSession(port, host)
            let value = String(cookie.drop { $0 != "=" }.dropFirst())
            func filled(_ text: String) -> String {
                text.replacing("COOKIEVALUE", with: value).replacing("COOKIE", with: cookie)
                    .replacing("ORIGIN", with: "http://\(host)").replacing("HOST", with: host)
                    .replacing("PORT", with: "\(port)")
            }
            for attack in Self.all {
                let answer = try await self.exchange(port, filled(attack.text))
                #expect(self.status(answer) >= 400 || answer.isEmpty, "\(attack.name): \(answer.prefix(300))")
                #expect(!answer.contains("secretroad") && !answer.contains("\"vehicles\""), "\(attack.name)")
                #expect(!answer.lowercased().contains("set-cookie"), "\(attack.name)")
                #expect(!answer.contains("<script>"), "\(attack.name)")
            }
            // The page of this server still gets what it asks for.
            let good = try await self.exchange(
                port, filled(Self.get(Self.data, ["Cookie: COOKIE", "Origin: ORIGIN"])))
            #expect(self.status(good) == 200)
            #expect(good.contains(Bench.vehicle))
        }

        @Test func `silent connections keep no page out, and end no stream of events`() async throws {
            try await Self.withServer { port, host in
                let cookie = try await Self.openSession(port, host)
                @Sendable func request(_ method: String, _ path: String) -> String {
                    Self.get(path, host: host, ["Cookie: \(cookie)", "Origin: http://\(host)"])
                        .replacing("GET ", with: "\(method) ")
                }
                let events = try await Self.exchange(port, request("GET", "/events?views=overview")) {
                    let silent = try await WebClient(port: port).silentConnections(100)
                    // Another page is opened by the link, and this one asks.
                    _ = try await Self.openSession(port, host)
                    let data = try await Self.exchange(port, request("GET", Self.data))
                    #expect(Self.status(data) == 200)
                    // Only the last 63 have places beside the stream.
                    for channel in silent.prefix(37) { try await channel.closeFuture.get() }
                    let ended = try await Self.exchange(port, request("DELETE", "/session"))
                    #expect(Self.status(ended) == 204)
                    for channel in silent { channel.close(promise: nil) }
                }
                // It has ended with its session, and was not cut.
                #expect(events.hasSuffix("\r\n0\r\n\r\n"))
            }
        }

        @Test func `the right token is accepted at once after any number of wrong ones`() async throws {
            let bench = Bench()
            let now = Date(timeIntervalSince1970: 0)
            func open(_ token: String) async -> Int {
                await bench.http.respond(
                    to: PageRequest(
                        "POST", "/session", contentType: "application/json",
                        body: Data(#"{"token": "\#(token)"}"#.utf8)), cookieName: "waymark-1", now: now
                ).status
            }
            for guess in 0..<100 { #expect(await open("guess-\(guess)") == 403) }
            #expect(await open(Bench.token) == 204)
        }
    }
#endif
