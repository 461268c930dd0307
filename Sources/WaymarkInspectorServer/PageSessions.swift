package import Foundation

/// Which pages may ask: those that know the token that was printed, and later their cookie. A value without clock.
package struct PageSessions: Sendable {
    /// How long a cookie is good for.
    package static let lifetime = 43_200.0
    private static let sessionsMax = 64

    /// 43 characters of base64url: 256 bits.
    package let token: String
    private var sessions: [String: Date] = [:]

    package init(token: String = Self.secret()) { self.token = token }

    /// 43 random characters.
    package static func secret() -> String {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// A page says the token.
    ///
    /// Wrong tokens lock nothing: no number of guesses finds 256 bits, and a lock would let any user of this machine shut out the page
    /// that knows the token.
    ///
    /// - Returns: The value of the cookie; nil if the token is wrong.
    package mutating func open(_ token: String, at now: Date) -> String? {
        guard Self.isSame(token, self.token) else { return nil }
        self.sessions = self.sessions.filter { $0.value > now }
        if self.sessions.count >= Self.sessionsMax,
            let oldest = self.sessions.min(by: { $0.value < $1.value })
        {
            self.sessions[oldest.key] = nil
        }
        let cookie = Self.secret()
        self.sessions[cookie] = now.addingTimeInterval(Self.lifetime)
        return cookie
    }

    /// Until when a cookie is good; nil if it is not.
    package func expiry(_ cookie: String, at now: Date) -> Date? {
        self.sessions.first { Self.isSame($0.key, cookie) && $0.value > now }?.value
    }

    package mutating func close(_ cookie: String) { self.sessions[cookie] = nil }

    /// Takes the same time wherever they differ.
    private static func isSame(_ mine: String, _ theirs: String) -> Bool {
        let (mine, theirs) = (Array(mine.utf8), Array(theirs.utf8))
        guard mine.count == theirs.count else { return false }
        return zip(mine, theirs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
