package import Foundation
internal import Synchronization
package import WaymarkInspector
internal import WaymarkTexts

/// A request as the inspector sees it. Host and Origin were checked before.
package struct PageRequest: Sendable {
    package var method: String
    package var path: String
    /// Behind `?`.
    package var query: String
    /// The value of the cookie; nil for none.
    package var cookie: String?
    package var contentType: String
    package var lastEventID: String?
    /// The header Accept-Encoding.
    package var acceptEncoding: String
    package var body: Data

    package init(
        _ method: String, _ path: String, query: String = "", cookie: String? = nil, contentType: String = "",
        lastEventID: String? = nil, acceptEncoding: String = "", body: Data = Data()
    ) {
        (self.method, self.path, self.query, self.cookie) = (method, path, query, cookie)
        (self.contentType, self.lastEventID, self.body) = (contentType, lastEventID, body)
        self.acceptEncoding = acceptEncoding
    }

    /// Whether a response may be compressed: its header names gzip, and not with the quality 0.
    var acceptsGzip: Bool {
        self.acceptEncoding.lowercased().split(separator: ",").contains { coding in
            let parts = coding.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.first == "gzip" else { return false }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
            return quality ?? 1 > 0
        }
    }
}

/// What the inspector answers.
package struct PageResponse: Sendable {
    package var status = 200
    package var headers: [(name: String, value: String)] = []
    package var body = Data()
    /// Events follow; nil for other responses.
    package var stream: EventStream?
    /// Whose session the stream belongs to: it ends with it.
    package var streamCookie: String?

    static func json(_ data: Data, status: Int = 200) -> PageResponse {
        PageResponse(status: status, headers: [("content-type", "application/json")], body: data)
    }

    static func error(_ error: InspectorError) -> PageResponse {
        .json(JSON.data(of: error.answer), status: error.status)
    }
}

/// Answers requests of the page. No HTTP server, and no clock.
package final class InspectorHTTP: Sendable {
    /// The body of a request.
    package static let bodyBytesMax = 65_536
    /// No script or style but ours, no connection elsewhere, in no frame of another site.
    package static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    package let desk: InspectorDesk
    package let actions: ActionDesk?
    private let actRefusal: String
    private let files: PageFiles
    private let basemap: Data?
    private let sessions: Mutex<PageSessions>

    /// Without `actions` nothing can be done, and `actRefusal` says why. The map shows `basemap`, GeoJSON, below the route.
    package init(
        _ desk: InspectorDesk, actions: ActionDesk?, actRefusal: String = "started without --act",
        files: PageFiles, basemap: Data? = nil, sessions: PageSessions = PageSessions()
    ) {
        (self.desk, self.actions, self.actRefusal) = (desk, actions, actRefusal)
        (self.files, self.basemap) = (files, basemap)
        self.sessions = Mutex(sessions)
    }

    /// What a page needs to open a session.
    package var token: String { self.sessions.withLock { $0.token } }

    /// Answers a request. `cookieName` differs between servers of one machine.
    package func respond(to request: PageRequest, cookieName: String, now: Date) async -> PageResponse {
        do throws(InspectorError) {
            return try await self.answer(request, cookieName, now)
        } catch {
            return .error(error)
        }
    }

    private func answer(
        _ request: PageRequest, _ cookieName: String, _ now: Date
    ) async throws(InspectorError) -> PageResponse {
        if request.path == "/session" { return try self.session(request, cookieName, now) }
        if let file = self.files[request.path] {
            try self.allow(["GET", "HEAD"], request)
            return self.response(file, acceptsGzip: request.acceptsGzip)
        }
        let isData =
            request.path.hasPrefix("/api/") || request.path == "/events" || request.path == "/basemap.geojson"
        guard isData else { throw InspectorError(.notFound, "there is nothing at this path") }
        guard let cookie = request.cookie, self.isOpen(cookie, at: now) else {
            throw InspectorError(.noSession, "open the link that `waymark inspect` printed")
        }
        switch request.path {
        case "/events":
            try self.allow(["GET"], request)
            var response = PageResponse(headers: [("content-type", "text/event-stream")])
            response.stream = try await self.desk.openStream(
                try InspectorQuery(request.query), lastID: request.lastEventID)
            response.streamCookie = cookie
            return response
        case "/basemap.geojson":
            try self.allow(["GET", "HEAD"], request)
            guard let basemap else { throw InspectorError(.notFound, "there is no basemap; see --basemap") }
            return PageResponse(headers: [("content-type", "application/geo+json")], body: basemap)
        case "/api/act": return try await self.act(request)
        case "/api/actions": return try await self.done(request, now)
        case "/api/preview":
            try self.allow(["POST"], request)
            try self.checkType(request)
            return self.response(try await self.desk.preview(request.body, now: now))
        default:
            try self.allow(["GET", "HEAD"], request)
            let path = String(request.path.dropFirst(5))
            return self.response(
                try await self.desk.answer(path, try InspectorQuery(request.query), now: now))
        }
    }

    private func allow(_ methods: [String], _ request: PageRequest) throws(InspectorError) {
        guard methods.contains(request.method) else {
            throw InspectorError(.method, "only \(methods.joined(separator: ", ")) here")
        }
    }

    /// Why: a form of another site can send text, but no JSON.
    private func checkType(_ request: PageRequest) throws(InspectorError) {
        let type = request.contentType.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
        guard type?.lowercased() == "application/json" else {
            throw InspectorError(.invalid, field: "content-type", "must be application/json")
        }
        guard request.body.count <= Self.bodyBytesMax else {
            throw InspectorError(.tooLarge, "the body must be at most \(Self.bodyBytesMax) bytes")
        }
    }

    private func response(_ file: PageFiles.File, acceptsGzip: Bool) -> PageResponse {
        var response = PageResponse(
            headers: [("content-type", file.mediaType), ("vary", "Accept-Encoding")], body: file.bytes)
        if acceptsGzip, let compressed = file.compressed {
            response.headers.append(("content-encoding", "gzip"))
            response.body = compressed
        }
        return response
    }

    private func response(_ answer: InspectorAnswer) -> PageResponse {
        switch answer {
        case .json(let data): return .json(data)
        case .file(let name, let mediaType, let data):
            return PageResponse(
                headers: [
                    ("content-type", mediaType), ("content-disposition", "attachment; filename=\"\(name)\""),
                ], body: data)
        }
    }

    // MARK: Sessions

    /// Whether a session has this cookie, and has not ended.
    package func isOpen(_ cookie: String, at now: Date) -> Bool {
        self.sessions.withLock { $0.expiry(cookie, at: now) != nil }
    }

    private func session(
        _ request: PageRequest, _ cookieName: String, _ now: Date
    ) throws(InspectorError) -> PageResponse {
        try self.allow(["POST", "DELETE"], request)
        let attributes = "HttpOnly; SameSite=Strict; Path=/"
        guard request.method == "POST" else {
            if let cookie = request.cookie { self.sessions.withLock { $0.close(cookie) } }
            return PageResponse(
                status: 204, headers: [("set-cookie", "\(cookieName)=; \(attributes); Max-Age=0")])
        }
        try self.checkType(request)
        let token = try JSONFields(request.body, allowed: ["token"]).text("token", max: 128)
        guard let cookie = self.sessions.withLock({ $0.open(token, at: now) }) else {
            throw InspectorError(.forbidden, field: "token", "is not the one that `waymark inspect` printed")
        }
        let age = Int(PageSessions.lifetime)
        return PageResponse(
            status: 204,
            headers: [("set-cookie", "\(cookieName)=\(cookie); \(attributes); Max-Age=\(age)")])
    }

    // MARK: Actions

    private func act(_ request: PageRequest) async throws(InspectorError) -> PageResponse {
        try self.allow(["POST"], request)
        try self.checkType(request)
        guard let actions else { throw InspectorError(.forbidden, field: "action", self.actRefusal) }
        let id = try await actions.act(request.body)
        return .json(JSON.data(of: Answer.Begun(id: id)), status: 202)
    }

    private func done(_ request: PageRequest, _ now: Date) async throws(InspectorError) -> PageResponse {
        try self.allow(["GET", "HEAD"], request)
        let query = try InspectorQuery(request.query)
        return .json(await self.actionData(try query.only("id"), now))
    }

    /// What is known of the actions of a vehicle.
    package func actionData(_ vehicle: String, _ now: Date) async -> Data {
        guard let actions else {
            return JSON.data(of: Answer.Actions(enabled: false, reason: self.actRefusal, done: []))
        }
        return await actions.object(vehicle, since: await self.desk.begin)
    }
}
