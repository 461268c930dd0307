import Foundation
import Testing

/// `waymark demo` in a terminal and in a pipe.
@Suite(.timeLimit(.minutes(5))) struct DemoTests {
    /// The beginnings of the story's lines, in order.
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
                Issue.record("\(step) does not follow the previous step in \(lines)")
                return
            }
            rest = rest[(index + 1)...]
        }
    }

    @Test(arguments: ["60", "10000"])
    func `in a pipe the demo prints its story in lines, in order`(_ speed: String) async throws {
        let demo = try Program("waymark", ["demo", "--speed", speed])
        #expect(await demo.end() == 0)
        Self.expectStory(demo.lines)
        let last = try #require(demo.lines.last)
        #expect(last == "demo: the charging stop: accepted; the drive: arrived")
        // Maneuvers are printed between the steps, and no line twice.
        #expect(demo.lines.count { $0.hasPrefix("  ") } > 5)
        #expect(demo.lines.count { $0.hasPrefix("guided by") } == 1)
    }

    @Test func `the estimates are those of the rest of the route`() async throws {
        let demo = try Program("waymark", ["demo", "--speed", "10000"])
        #expect(await demo.end() == 0)
        let line = try #require(demo.lines.first { $0.hasPrefix("the client's estimates") })
        let numbers = line.matches(of: /(\d+(?:\.\d+)?) km/).compactMap { Double($0.1) }
        let (with, without) = (try #require(numbers.first), try #require(numbers.last))
        // The detour is short; the whole route is twice as long as the rest.
        #expect(with < without * 1.5, "\(line)")
    }

    /// The screens of the terminal, and the output after them.
    private static func screens(_ output: String) throws -> (screens: [[String]], after: [String]) {
        let drawn = try #require(output.range(of: "\u{1B}[?1049l"))
        let screens = output[..<drawn.lowerBound].components(separatedBy: "\u{1B}[H").dropFirst().map {
            $0.replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "")
                .components(separatedBy: "\r\n")
                // The terminal adds one to each line.
                .map { $0.trimmingCharacters(in: ["\r"]) }
        }
        return (Array(screens), output[drawn.upperBound...].components(separatedBy: "\r\n"))
    }

    @Test
    func `in a terminal of 80 columns the screen shows the story, which is printed again at the end`()
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
        // The question is on the screen until the user answers, and only keys that work are listed.
        #expect(
            screens.contains { $0.contains { $0.contains("▶ stop at Charging station Gewerbestrasse?") } })
        #expect(screens.allSatisfy { !$0.contains { $0.contains("q quit") } })
    }
}
