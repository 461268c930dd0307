package import ArgumentParser
internal import Foundation
internal import WaymarkModel
internal import WaymarkRoutes
internal import WaymarkTexts

package struct Routes: ParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Look at routes of OSRM, Mapbox, Valhalla and GraphHopper.",
        subcommands: [Show.self, Export.self])

    package init() {}

    struct Input: ParsableArguments {
        @Argument(help: "The engine's answer; - for standard input.", completion: .file(extensions: ["json"]))
        var file: String
    }

    struct Show: ParsableCommand {
        enum Format: String, CaseIterable, ExpressibleByArgument { case table, json }

        static let configuration = CommandConfiguration(
            abstract: "Show the legs and maneuvers of a route, and what could not be carried over.",
            discussion: "With --format json: one object per route, see Docs/cluster-json.md.")
        @OptionGroup var input: Input
        @Option(help: "The side on which traffic drives, whatever the engine says.") var trafficSide: Side?
        @Option(help: "How to print.") var format = Format.table
        @Flag(help: "List every note on what could not be carried over; without it they are summed up.")
        var notices = false

        func run() throws {
            let answer = try readAnswer(self.input.file, self.trafficSide)
            switch self.format {
            case .table:
                for line in RouteTable.lines(answer, listsNotices: self.notices) {
                    Terminal.line(Terminal.printable(line))
                }
            case .json:
                for (index, route) in answer.routes.enumerated() {
                    Terminal.line(JSON.line(Self.json(answer, route, index)))
                }
            }
        }

        static func json(_ answer: RouteAnswer, _ route: EngineRoute, _ index: Int) -> [String: Any] {
            var object: [String: Any] = [
                "kind": "route", "engine": route.engine.rawValue, "route": index + 1,
                "routes": answer.routes.count, "distanceMeters": Int(route.distance.meters),
                "timeSeconds": Int(route.duration.components.seconds),
                "summaryVariants": route.summaryVariants,
                "waypoints": route.waypoints.map(ModelJSON.waypoint),
                "notices": (route.notices + (index == 0 ? answer.notices : [])).map {
                    ["path": $0.path, "reason": $0.reason]
                },
            ]
            object.merge(ModelJSON.information(route.information)) { $1 }
            object["maneuvers"] = zip(route.information.maneuvers, route.maneuverIndices).map {
                maneuver, place in
                ModelJSON.maneuver(maneuver).merging(["at": ModelJSON.coordinate(route.line[place])]) { $1 }
            }
            return object
        }
    }

    struct Export: ParsableCommand {
        enum Format: String, CaseIterable, ExpressibleByArgument { case geojson, gpx }

        static let configuration = CommandConfiguration(abstract: "Write a route as GeoJSON or GPX.")
        @OptionGroup var input: Input
        @Option(help: "What to write.") var format = Format.geojson
        @Option(help: "Which of the answer's routes, from 1.") var number = 1

        func run() throws {
            let answer = try readAnswer(self.input.file, nil)
            guard answer.routes.indices.contains(self.number - 1) else {
                throw CommandFailure(
                    "--number must be 1 to \(answer.routes.count), so many routes the answer has")
            }
            let route = answer.routes[self.number - 1]
            switch self.format {
            case .geojson: Terminal.write(route.geoJSON)
            case .gpx: Terminal.write(route.gpx)
            }
        }
    }
}
