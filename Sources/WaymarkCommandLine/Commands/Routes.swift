package import ArgumentParser
internal import Foundation
internal import WaymarkModel
internal import WaymarkRoutes

/// Reads an engine's answer from a file, or from standard input for `-`.
func readAnswer(_ file: String, trafficSide: String?) throws -> EngineAnswer {
    var options = ReadingOptions()
    if let trafficSide {
        guard trafficSide == "left" || trafficSide == "right" else {
            throw ValidationError("--traffic-side must be left or right")
        }
        options.trafficSide = trafficSide == "left" ? .left : .right
    }
    let data: Data
    if file == "-" {
        data = FileHandle.standardInput.readDataToEndOfFile()
    } else {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw ValidationError("\(file) cannot be read")
        }
        data = content
    }
    do throws(RouteReadingError) { return try RouteReader.read(data, options: options) } catch {
        throw CommandFailure("\(file): \(error)")
    }
}

/// Something went wrong that is not the user's typing.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

package struct Routes: ParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Look at routes of OSRM, Mapbox and Valhalla.", subcommands: [Show.self, Export.self])

    package init() {}

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the maneuvers of a route.")
        @Argument(help: "The engine's answer; - for standard input.") var file: String
        @Option(help: "table or json.") var format = "table"
        @Option(help: "left or right, where the engine does not say.") var trafficSide: String?

        func run() throws {
            let answer = try readAnswer(self.file, trafficSide: self.trafficSide)
            switch self.format {
            case "table": for line in Self.table(answer) { Terminal.line(line) }
            case "json": for route in answer.routes { Terminal.line(Self.json(route)) }
            default: throw ValidationError("--format must be table or json")
            }
        }

        static func table(_ answer: EngineAnswer) -> [String] {
            var lines: [String] = []
            for (index, route) in answer.routes.enumerated() {
                let minutes = (route.duration.components.seconds + 30) / 60
                lines.append(
                    "route \(index + 1) of \(answer.routes.count): \(route.engine), \(route.distance.meters) m, \(minutes) min, "
                        + "\(route.information.segments.count) leg(s), \(route.information.maneuvers.count) maneuvers, "
                        + "\(route.information.laneGuidances.count) with lanes")
                for maneuver in route.information.maneuvers {
                    let angle = maneuver.junctionExitAngle.map { "\($0.degrees)°" } ?? ""
                    let columns = [
                        ("\(maneuver.id.rawValue)", 4), ("\(maneuver.type)", 27), (angle, 6),
                        (maneuver.highwayExitLabel, 5),
                    ]
                    let start = columns.map {
                        $0.0.padding(toLength: max($0.0.count, $0.1), withPad: " ", startingAt: 0)
                    }
                    lines.append(
                        start.joined(separator: " ") + " " + (maneuver.instructionVariants.first ?? ""))
                }
                for notice in route.notices { lines.append("note: \(notice.path): \(notice.reason)") }
            }
            return lines
        }

        static func json(_ route: EngineRoute) -> String {
            ClusterJSON.line([
                "engine": route.engine.rawValue, "meters": Int(route.distance.meters),
                "seconds": Int(route.duration.components.seconds),
                "maneuvers": route.information.maneuvers.map(ClusterJSON.maneuver),
                "notices": route.notices.map { ["path": $0.path, "reason": $0.reason] },
            ])
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Write a route as GeoJSON or GPX.")
        @Argument(help: "The engine's answer; - for standard input.") var file: String
        @Option(help: "geojson or gpx.") var format = "geojson"

        func run() throws {
            let route = try readAnswer(self.file, trafficSide: nil).chosen
            switch self.format {
            case "geojson": Terminal.line(try RouteExport.geoJSON(route))
            case "gpx": Terminal.line(RouteExport.gpx(route))
            default: throw ValidationError("--format must be geojson or gpx")
            }
        }
    }
}
