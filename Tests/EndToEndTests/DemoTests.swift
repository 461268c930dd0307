import Foundation
import Testing

/// `waymark demo` as a newcomer sees it.
@Suite(.timeLimit(.minutes(5))) struct DemoTests {
    /// The beginnings of the lines that tell the story, in their order.
    private static let steps = [
        "connected to the gateway", "guided by demo-navigation from Städtle to Balzers: ",
        "the vehicle asks for a stop at Charging station Gewerbestrasse, to charge",
        "the client's estimates with a stop at Charging station Gewerbestrasse: ",
        "the vehicle's user says yes", "the stop is accepted",
        "new route via Charging station Gewerbestrasse: ",
        "at the stop Charging station Gewerbestrasse", "arrived at Balzers",
    ]

    private static func expectStory(_ lines: [String]) {
        var rest = lines[...]
        for step in Self.steps {
            guard let index = rest.firstIndex(where: { $0.hasPrefix(step) }) else {
                Issue.record("\(step) is not told after the step before, in \(lines)")
                return
            }
            rest = rest[(index + 1)...]
        }
    }

    @Test(arguments: ["60", "10000"])
    func `in a pipe the demo tells its story in lines, in their order`(_ speed: String) async throws {
        let demo = try Program("waymark", ["demo", "--speed", speed])
        #expect(await demo.end() == 0)
        Self.expectStory(demo.lines)
        let last = try #require(demo.lines.last)
        #expect(last == "demo: the charging stop: accepted; the drive: arrived")
        // Maneuvers are told between the steps, and nothing twice.
        #expect(demo.lines.count { $0.hasPrefix("  ") } > 5)
        #expect(demo.lines.count { $0.hasPrefix("guided by") } == 1)
    }

    @Test func `the estimates are those of the way that is still ahead`() async throws {
        let demo = try Program("waymark", ["demo", "--speed", "10000"])
        #expect(await demo.end() == 0)
        let line = try #require(demo.lines.first { $0.hasPrefix("the client's estimates") })
        let numbers = line.matches(of: /(\d+(?:\.\d+)?) km/).compactMap { Double($0.1) }
        let (with, without) = (try #require(numbers.first), try #require(numbers.last))
        // The stop is on the way, more or less; the whole way is twice as long.
        #expect(with < without * 1.5, "\(line)")
    }

    /// What the terminal showed, screen by screen, and what was printed after that.
    private static func screens(_ output: String) throws -> (screens: [[String]], after: [String]) {
        let drawn = try #require(output.range(of: "\u{1B}[?1049l"))
        let screens = output[..<drawn.lowerBound].components(separatedBy: "\u{1B}[H").dropFirst().map {
            $0.replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "")
                .components(separatedBy: "\r\n")
                // The terminal has made one more of each.
                .map { $0.trimmingCharacters(in: ["\r"]) }
        }
        return (Array(screens), output[drawn.upperBound...].components(separatedBy: "\r\n"))
    }

    @Test
    func `in a terminal of 80 columns the screen tells the story, and it stays when the screen is left`()
        async throws
    {
        let waymark = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "waymark").path
        let demo = try Program(command: [
            "TERM=xterm", "script", "--quiet", "--return", "--command",
            "stty cols 80 rows 24; '\(waymark)' demo --speed 10000", "/dev/null",
        ])
        #expect(await demo.end() == 0)
        let (screens, after) = try Self.screens(demo.lines.joined(separator: "\n"))
        for screen in screens {
            #expect(screen.count <= 24)
            #expect(screen.allSatisfy { $0.count <= 80 })
        }
        let last = try #require(screens.last)
        #expect(last[0].hasSuffix("connected"))
        Self.expectStory(last.map { $0.trimmingCharacters(in: .whitespaces) })
        Self.expectStory(after)
        // The question stands on the screen while the user thinks, and only keys that are read are named.
        #expect(
            screens.contains { $0.contains { $0.contains("▶ stop at Charging station Gewerbestrasse?") } })
        #expect(screens.allSatisfy { !$0.contains { $0.contains("q quit") } })
    }
}
