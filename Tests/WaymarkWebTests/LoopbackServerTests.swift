#if Inspector
    import Foundation
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import NIOPosix
    import Testing
    import ListeningSockets
    import WaymarkWeb
    import WebClient

    /// Opens a server that answers with the path, unless `respond` does, and closes it after `body`.
    private func withServer(
        at address: String = "127.0.0.1:0", _ change: (inout LoopbackServer.Limits) -> Void = { _ in },
        respond: @escaping @Sendable (_ path: String) async throws -> Response? = { _ in nil },
        _ body: @escaping @Sendable (LoopbackServer) async throws -> Void
    ) async throws {
        var limits = LoopbackServer.Limits()
        change(&limits)
        let responder = CallbackResponder { (request: Request, _: BasicRequestContext) in
            if request.uri.path == "/error" { throw UnexpectedError() }
            return try await respond(request.uri.path) ?? Response.text(request.uri.path)
        }
        let server = try await LoopbackServer.open(LoopbackAddress(address), limits: limits, responder)
        try await withThrowingTaskGroup { group in
            group.addTask { await server.run() }
            group.addTask {
                do { try await body(server) } catch {
                    await server.close()
                    throw error
                }
                await server.close()
            }
            try await group.waitForAll()
        }
    }

    private struct UnexpectedError: Error {}

    private func silentConnections(_ count: Int, to server: LoopbackServer) async throws -> [any Channel] {
        try await WebClient(of: server).silentConnections(count)
    }

    private func exchange(
        _ server: LoopbackServer, _ text: String, meanwhile: @Sendable () async throws -> Void = {}
    ) async throws -> String {
        try await WebClient(of: server).exchange(text, meanwhile: meanwhile)
    }

    private func request(
        _ server: LoopbackServer, _ path: String = "/a", method: String = "GET", host: String? = nil,
        more: String = ""
    ) -> String {
        let own = "\(server.address)".hasPrefix("unix") ? "localhost" : "\(server.address)".dropFirst(7)
        return
            "\(method) \(path) HTTP/1.1\r\nHost: \(host ?? String(own))\r\nConnection: close\r\n\(more)\r\n"
    }

    @Suite(.timeLimit(.minutes(1))) struct LoopbackServerTests {
        @Test(arguments: ["127.0.0.1:0", "[::1]:0"])
        func `the server answers at the port that the system chose`(_ address: String) async throws {
            try await withServer(at: address) { server in
                let answer = try await exchange(server, request(server))
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer.hasSuffix("\r\n\r\n/a"))
            }
        }

        @Test func `a Unix socket is its user's alone, and removed at the end`() async throws {
            let path = FileManager.default.temporaryDirectory.path + "/web-\(UInt32.random(in: 0 ... .max))"
            try await withServer(at: "unix:\(path)") { server in
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                #expect(try await exchange(server, request(server)).hasSuffix("\r\n\r\n/a"))
                await #expect(throws: ListenerError.inUse(.unix(path: path))) {
                    try await withServer(at: "unix:\(path)") { _ in }
                }
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }

        @Test(arguments: 0..<20) func `it can end while connections arrive`(_ round: Int) async throws {
            let responder = CallbackResponder { (_: Request, _: BasicRequestContext) in Response.text("a") }
            let server = try await LoopbackServer.open(LoopbackAddress("127.0.0.1:0"), responder)
            let running = Task { await server.run() }
            await withDiscardingTaskGroup { group in
                for number in 0..<64 {
                    group.addTask {
                        if number == round { running.cancel() }
                        do { _ = try await exchange(server, request(server)) } catch { /* It was refused. */
                        }
                    }
                }
            }
            await running.value
        }

        @Test func `an address in use is named`() async throws {
            try await withServer { server in
                await #expect(throws: ListenerError.inUse(server.address.address)) {
                    try await withServer(at: "\(server.address.address)") { _ in }
                }
            }
        }

        @Test func `a foreign Host is refused before the responder sees the request`() async throws {
            try await withServer { server in
                let answer = try await exchange(server, request(server, host: "evil.example"))
                #expect(answer.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"))
                #expect(!answer.contains("evil"))
                let twice = try await exchange(server, request(server, more: "Host: evil.example\r\n"))
                #expect(twice.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            }
        }

        @Test func `HEAD gets the headers of GET and no body`() async throws {
            try await withServer { server in
                let answer = try await exchange(server, request(server, "/abc", method: "HEAD"))
                #expect(answer.lowercased().contains("content-length: 4\r\n"))
                #expect(answer.hasSuffix("\r\n\r\n"))
            }
        }

        @Test func `an error of the responder is not shown`() async throws {
            try await withServer { server in
                let answer = try await exchange(server, request(server, "/error"))
                #expect(answer.hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
                #expect(!answer.contains("Unexpected"))
            }
        }

        @Test(arguments: [
            "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 20_000))\r\n\r\n",
            "GET / HTTP/1.1\r\n\(String(repeating: "A: b\r\n", count: 70))\r\n",
            "nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: a b\u{0}c\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ])
        func `a head that is too long or malformed is refused`(_ text: String) async throws {
            try await withServer { server in
                let answer = try await exchange(server, text)
                #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            }
        }

        @Test func `several requests on one connection are answered in their order`() async throws {
            try await withServer { server in
                let host = "\(server.address)".dropFirst(7)
                let first = "GET /first HTTP/1.1\r\nHost: \(host)\r\n\r\n"
                let answer = try await exchange(server, first + request(server, "/second"))
                let parts = answer.split(separator: "HTTP/1.1 200 OK")
                #expect(parts.count == 2)
                #expect(parts.first?.hasSuffix("/first") == true && parts.last?.hasSuffix("/second") == true)
            }
        }

        @Test func `silent connections keep no request out: the oldest one is closed for it`() async throws {
            try await withServer { server in
                let silent = try await silentConnections(LoopbackServer.Limits().connections, to: server)
                let answer = try await exchange(server, request(server))
                #expect(answer.hasSuffix("\r\n\r\n/a"))
                try await silent[0].closeFuture.get()
                #expect(silent.dropFirst().allSatisfy { $0.isActive })
                for channel in silent.dropFirst() { try await channel.close() }
            }
        }

        @Test func `a stream of events survives any number of silent connections`() async throws {
            let (events, event) = AsyncStream.makeStream(of: String.self)
            event.yield("the first")
            try await withServer(
                { $0.connections = 4 },
                respond: { path in
                    guard path == "/events" else { return nil }
                    let body = ResponseBody { writer in
                        for await text in events { try await writer.write(ByteBuffer(string: text)) }
                        try await writer.finish(nil)
                    }
                    return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
                }
            ) { server in
                let answer = try await exchange(server, request(server, "/events")) {
                    let silent = try await silentConnections(20, to: server)
                    #expect(try await exchange(server, request(server)).hasSuffix("\r\n\r\n/a"))
                    // Two of them and the request had the places beside the stream.
                    for channel in silent.prefix(18) { try await channel.closeFuture.get() }
                    for channel in silent.suffix(2) { try await channel.close() }
                    event.yield("the last")
                    event.finish()
                }
                #expect(answer.contains("the first") && answer.contains("the last"))
                #expect(answer.hasSuffix("\r\n0\r\n\r\n"))
            }
        }

        @Test func `a request that is being answered survives any number of silent connections`() async throws
        {
            let (starts, start) = AsyncStream.makeStream(of: Void.self)
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            try await withServer(
                { $0.connections = 4 },
                respond: { path in
                    guard path == "/slow" else { return nil }
                    start.finish()
                    for await _ in ends {}
                    return nil
                }
            ) { server in
                try await withThrowingTaskGroup(of: String.self) { group in
                    group.addTask { try await exchange(server, request(server, "/slow")) }
                    for await _ in starts {}
                    let silent = try await silentConnections(20, to: server)
                    #expect(try await exchange(server, request(server)).hasSuffix("\r\n\r\n/a"))
                    for channel in silent.prefix(18) { try await channel.closeFuture.get() }
                    for channel in silent.suffix(2) { try await channel.close() }
                    end.finish()
                    for try await answer in group { #expect(answer.hasSuffix("\r\n\r\n/slow")) }
                }
            }
        }

        @Test func `cancelling ends the server and removes its file`() async throws {
            let path = FileManager.default.temporaryDirectory.path + "/web-\(UInt32.random(in: 0 ... .max))"
            let responder = CallbackResponder { (_: Request, _: BasicRequestContext) in Response.text("") }
            let server = try await LoopbackServer.open(LoopbackAddress("unix:\(path)"), responder)
            let running = Task { await server.run() }
            #expect(try await exchange(server, request(server)).contains("200"))
            running.cancel()
            await running.value
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
#endif
