import Foundation
import Testing
import WaymarkInspectorServer

@Suite struct PageSessionTests {
    private let now = Date(timeIntervalSince1970: 1_000)

    @Test func `the token opens a session, whose cookie ends after twelve hours`() throws {
        var sessions = PageSessions(token: "secret")
        guard case .opened(let cookie) = sessions.open("secret", at: self.now) else {
            Issue.record("the token was refused")
            return
        }
        #expect(cookie.utf8.count == 43)
        #expect(sessions.expiry(cookie, at: self.now) == self.now.addingTimeInterval(43_200))
        #expect(sessions.expiry(cookie, at: self.now.addingTimeInterval(43_201)) == nil)
        #expect(sessions.expiry(cookie + "x", at: self.now) == nil)
        sessions.close(cookie)
        #expect(sessions.expiry(cookie, at: self.now) == nil)
    }

    @Test func `after ten wrong tokens in a minute also the right one is refused, for a minute`() {
        var sessions = PageSessions(token: "secret")
        for _ in 0..<10 { #expect(sessions.open("guess", at: self.now) == .wrongToken) }
        #expect(sessions.open("secret", at: self.now) == .tooManyFailures)
        guard case .opened = sessions.open("secret", at: self.now.addingTimeInterval(61)) else {
            Issue.record("the token is still refused")
            return
        }
    }

    @Test func `the oldest of too many sessions ends`() throws {
        var sessions = PageSessions(token: "secret")
        var cookies: [String] = []
        for second in 0...64 {
            guard case .opened(let cookie) = sessions.open("secret", at: self.now + Double(second)) else {
                continue
            }
            cookies.append(cookie)
        }
        let later = self.now + 100
        #expect(sessions.expiry(try #require(cookies.first), at: later) == nil)
        #expect(sessions.expiry(try #require(cookies.last), at: later) != nil)
    }

    @Test func `tokens have 256 bits and differ`() {
        let tokens = Set((0..<100).map { _ in PageSessions.secret() })
        #expect(tokens.count == 100)
        #expect(tokens.allSatisfy { $0.utf8.count == 43 })
    }
}
