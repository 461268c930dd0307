import Foundation
import Testing
import WaymarkInspectorServer

@Suite struct PageSessionTests {
    private let now = Date(timeIntervalSince1970: 1_000)

    @Test func `the token opens a session, whose cookie ends after twelve hours`() throws {
        var sessions = PageSessions(token: "secret")
        let opened = sessions.open("secret", at: self.now)
        let cookie = try #require(opened)
        #expect(cookie.utf8.count == 43)
        #expect(sessions.expiry(cookie, at: self.now) == self.now.addingTimeInterval(43_200))
        #expect(sessions.expiry(cookie, at: self.now.addingTimeInterval(43_201)) == nil)
        #expect(sessions.expiry(cookie + "x", at: self.now) == nil)
        sessions.close(cookie)
        #expect(sessions.expiry(cookie, at: self.now) == nil)
    }

    @Test func `wrong tokens open nothing, and lock nothing`() {
        var sessions = PageSessions(token: "secret")
        for guess in ["", "guess", "secre", "secret ", "Secret", "secrets"] {
            for _ in 0..<10 { #expect(sessions.open(guess, at: self.now) == nil) }
        }
        #expect(sessions.open("secret", at: self.now) != nil)
    }

    @Test func `the oldest of too many sessions ends`() throws {
        var sessions = PageSessions(token: "secret")
        var cookies: [String] = []
        for second in 0...64 {
            let opened = sessions.open("secret", at: self.now + Double(second))
            cookies.append(try #require(opened))
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
