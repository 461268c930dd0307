#if Inspector
    import HTTPTypes
    import Hummingbird
    import Testing
    import ListeningSockets
    import WaymarkWeb
    import WebClient

    @Suite struct RequestCheckTests {
        private let check: RequestCheck

        init() throws {
            self.check = RequestCheck(try LoopbackAddress("127.0.0.1:9377"), names: ["localhost"])
        }

        private func status(
            _ authority: String?, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get
        ) -> Int? {
            let head = HTTPRequest(
                method: method, scheme: "http", authority: authority, path: "/", headerFields: fields)
            return self.check.refusal(head)?.status.code
        }

        @Test(arguments: ["127.0.0.1:9377", "localhost:9377", "LocalHost:9377"])
        func `a request to one of the server's own addresses is answered`(_ authority: String) {
            #expect(self.status(authority) == nil)
        }

        @Test(arguments: [
            "evil.example", "evil.example:9377", "127.0.0.1", "localhost", "127.0.0.1:80", "127.0.0.2:9377",
            "127.0.0.1.evil.example:9377", "127.attacker.example:9377", "[::1]:9377", "0.0.0.0:9377",
            "2130706433:9377", "127.1:9377", "127.0.0.1:9377@evil.example", "evil@127.0.0.1:9377",
            "127.0.0.1:9377.", "127.0.0.1.:9377", "127.0.0.1:09377", "127.0.0.1:9377, evil",
            "http://127.0.0.1:9377", "ⅼocalhost:9377", "localhost.:9377",
        ])
        func `a request to another address is refused`(_ authority: String) {
            #expect(self.status(authority) == 421)
        }

        @Test func `a request needs exactly one Host`() throws {
            #expect(self.status(nil) == 400)
            #expect(self.status("") == 400)
            let host = try #require(HTTPField.Name("host"))
            #expect(self.status("127.0.0.1:9377", [host: "127.0.0.1:9377"]) == 400)
        }

        @Test(arguments: [HTTPRequest.Method.get, .head, .post, .put, .delete, .options])
        func `a request from a page of another origin is refused`(_ method: HTTPRequest.Method) {
            for origin in [
                "http://evil.example", "null", "https://127.0.0.1:9377", "http://127.0.0.1:9378", "http://",
                "http://127.0.0.1:9377.evil.example", "http://127.0.0.1", "127.0.0.1:9377", "file://", "",
            ] {
                #expect(self.status("127.0.0.1:9377", [.origin: origin], method: method) == 403, "\(origin)")
            }
            #expect(self.status("127.0.0.1:9377", [.origin: "http://127.0.0.1:9377"], method: method) == nil)
        }

        @Test func `a request that changes something needs an origin, and only one`() {
            #expect(self.status("127.0.0.1:9377", method: .post) == 403)
            #expect(self.status("127.0.0.1:9377", method: .head) == nil)
            var two = HTTPFields()
            two.append(HTTPField(name: .origin, value: "http://127.0.0.1:9377"))
            two.append(HTTPField(name: .origin, value: "http://127.0.0.1:9377"))
            #expect(self.status("127.0.0.1:9377", two, method: .post) == 403)
        }

        @Test func `a page of another site may lead a person here, and cannot read anything`() throws {
            let site = try #require(HTTPField.Name("sec-fetch-site"))
            let mode = try #require(HTTPField.Name("sec-fetch-mode"))
            let destination = try #require(HTTPField.Name("sec-fetch-dest"))
            for own in ["same-origin", "none"] {
                #expect(self.status("127.0.0.1:9377", [site: own]) == nil)
            }
            for other in ["cross-site", "same-site", "?"] {
                let link: HTTPFields = [site: other, mode: "navigate", destination: "document"]
                #expect(self.status("127.0.0.1:9377", link) == nil)
                #expect(self.status("127.0.0.1:9377", link, method: .post) == 403)
                for fields: HTTPFields in [
                    [site: other], [site: other, mode: "no-cors", destination: "script"],
                    [site: other, mode: "navigate", destination: "iframe"],
                    [site: other, mode: "cors", destination: "document"],
                ] { #expect(self.status("127.0.0.1:9377", fields) == 403, "\(fields)") }
            }
        }

        @Test func `only the port of HTTP may be left out`() throws {
            let check = RequestCheck(try LoopbackAddress("[::1]:80"), names: [])
            for (host, isOwn) in [("[::1]", true), ("[::1]:80", true), ("::1", false), ("localhost", false)] {
                let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
                #expect((check.refusal(head) == nil) == isOwn, "\(host)")
            }
        }

        @Test(arguments: [
            "127.0.0.1:0", "[::1]:9377", "tcp:127.0.0.1:9377", "tcp:[::1]:0", "unix:/run/x.sock",
        ])
        func `a literal loopback address or a Unix socket can be listened on`(_ text: String) throws {
            _ = try LoopbackAddress(text)
        }

        @Test(arguments: [
            "localhost:9377", "0.0.0.0:9377", "[::]:9377", "127.0.0.2:9377", "192.168.0.1:80",
            "tcp:localhost:1", "[::ffff:127.0.0.1]:9377", "127.1:9377", "127.attacker.example:80",
        ])
        func `no other address can be listened on`(_ text: String) {
            #expect(throws: LoopbackAddressError.notLoopback) { try LoopbackAddress(text) }
        }

        @Test func `what is not an address is refused by the reason`() {
            for (text, reason) in [
                ("9377", ListenAddressError.badPort), ("127.0.0.1", .badPort), ("", .badPort),
                ("127.0.0.1:70000", .badPort), ("unix:relative", .badPath), ("::1:80", .bracketsMissing),
            ] {
                #expect(throws: LoopbackAddressError.invalid(reason), "\(text)") { try LoopbackAddress(text) }
            }
        }
    }

    @Suite struct CheckedResponderTests {
        private func client() throws -> RouteClient {
            let router = Router()
            router.get("/page") { _, _ in
                Response(status: .ok, headers: [.contentSecurityPolicy: "default-src 'self'"], body: .init())
            }
            router.get("/text") { _, _ in Response.text("a text\n") }
            // A Unix socket's Host is `localhost`, as the client sends it.
            let check = RequestCheck(try LoopbackAddress("unix:/run/x.sock"), names: [])
            return RouteClient(CheckedResponder(router.buildResponder(), check))
        }

        @Test func `every response keeps other sites away, unless it says more itself`() async throws {
            let client = try self.client()
            for (path, status, policy) in [
                ("/text", 200, "default-src 'none'; frame-ancestors 'none'"),
                ("/page", 200, "default-src 'self'"),
                ("/nothing", 404, "default-src 'none'; frame-ancestors 'none'"),
            ] {
                let response = try await client.execute(uri: path, method: .get)
                #expect(response.status.code == status)
                #expect(response.headers[.contentSecurityPolicy] == policy)
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.crossOriginResourcePolicy] == "same-origin")
                #expect(response.headers[.cacheControl] == "no-store")
                let referrer = try #require(HTTPField.Name("referrer-policy"))
                #expect(response.headers[referrer] == "no-referrer")
            }
        }

        @Test func `nothing behind the check learns of a refused request`() async throws {
            let client = try self.client()
            let fields: HTTPFields = [.origin: "http://evil.example"]
            let response = try await client.execute(uri: "/text", method: .get, headers: fields)
            #expect(response.status == .forbidden)
            #expect(String(buffer: response.body) == "pages of other sites may not use this server\n")
        }
    }
#endif
