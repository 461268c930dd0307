import ProcessIO
import Testing

@Suite struct SpellingTests {
    @Test(arguments: [
        ("requst", ["request", "reroute"], ["request"]), ("teh", ["the"], ["the"]), ("xyz", ["request"], []),
        ("maneuver", ["maneuverState", "maneuvers", "trip"], ["maneuvers", "maneuverState"]),
    ])
    func `the nearest words are found`(_ word: String, _ names: [String], _ expected: [String]) {
        #expect(Spelling.nearest(to: word, of: names) == expected)
    }
}
