import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// Answers with several ways, in each form that the readers know.
@Suite struct AlternativeTests {
    /// A recorded answer in which the engine's list of ways is repeated.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let file: String

        static let all = [
            Form(testDescription: "routes of OSRM", file: "vaduz-balzers.json"),
            Form(testDescription: "alternates of Valhalla", file: "heidelberg-lanes.json"),
            Form(testDescription: "routes of Mapbox", file: "mapbox/two-legs.json"),
            Form(testDescription: "paths of GraphHopper", file: "graphhopper/berlin-a100.json"),
        ]

        /// The answer with `count` equal ways; nil if the file is not beside the package.
        func answer(ways count: Int) throws -> RouteAnswer? {
            guard let file = RouteFile.named(self.file) else { return nil }
            var json = try file.json()
            if let trip = json["trip"] {
                json["alternates"] = (1..<count).map { _ in ["trip": trip] }
            } else {
                let list = json["paths"] == nil ? "routes" : "paths"
                let ways = try #require(json[list] as? [Any])
                json[list] = Array(repeating: ways[0], count: count)
            }
            return try RouteReader.read([UInt8](JSONSerialization.data(withJSONObject: json)))
        }
    }

    @Test(arguments: Form.all)
    func `every way of an answer is a route, and the first three are choices`(_ form: Form) throws {
        for count in [1, 2, 3, 4] {
            guard let answer = try form.answer(ways: count) else { return }
            #expect(answer.areAlternatives && answer.routes.count == count)
            #expect(answer.choices.map(\.id) == Array(1...UInt32(min(count, 3))))
            let estimates = answer.choices.map(\.travelEstimates)
            #expect(estimates.allSatisfy { $0 != nil && $0 == estimates[0] })
            #expect(
                answer.notices.contains { $0.reason.contains("can be offered as choices") } == (count > 3))
        }
    }
}
