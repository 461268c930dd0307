import Foundation
import WaymarkProtocol
import WaymarkRecording
import WaymarkRoutes

@testable import WaymarkHistory
@testable import WaymarkInspector
@testable import WaymarkRig
@testable import WaymarkScenario
@testable import WaymarkTexts

/// A recording in memory.
struct Bytes: ByteSource {
    var bytes: [UInt8] = []
    var byteCount: UInt64 { UInt64(self.bytes.count) }

    func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8] {
        guard range.upperBound <= self.byteCount else { throw .malformed("behind the end") }
        return Array(self.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

/// A drive in virtual time, its history, and an inspection of its recording.
struct InspectedDrive {
    let history: History
    let recording: Recording
    var inspection: Inspection

    /// Profiles that do not ship, for small endpoints.
    private static let smallProfiles = [
        "small-frames": #"{"limits": {"frameBytes": 4096}}"#,
        "small-everything":
            #"{"limits": {"frameBytes": 5000, "maneuversStored": 3, "laneGuidancesStored": 1, "routeSegmentPoints": 20, "maneuverInstruction": 12, "currentRoadName": 8, "destinationName": 6}, "distanceUnits": "imperialFeet"}"#,
    ]

    init(_ text: String) throws {
        let scenario = try ScenarioReader.read(text, file: "x.scenario.yaml")
        var files = ScenarioInputs()
        for reference in scenario.routes {
            let bytes = ShippedFiles.routes.first { $0.name == reference.text }?.bytes ?? []
            files.routes[reference.text] = try RouteReader.read(bytes)
        }
        for reference in scenario.profiles {
            let bytes = ShippedFiles.profiles.first { $0.name == reference.text }?.bytes ?? []
            let data = Self.smallProfiles[reference.text].map { Data($0.utf8) } ?? Data(bytes)
            files.profiles[reference.text] = try ClusterProfile.parse(data, reference.text)
        }
        let (result, history) = ScenarioRun.run(scenario, files)
        var file = Bytes()
        try RunRecording(result).write(history) { file.bytes += $0 }
        self.history = history
        self.recording = try Recording(file)
        self.inspection = Inspection(Inspection.Options())
        self.inspection.sources = [
            InspectedSource("r1", name: "drive.mcap", .recorded(self.recording), isRedacted: false)
        ]
    }

    /// The answer to a question as an object.
    mutating func ask(_ path: String, _ values: [String: String] = [:]) throws -> [String: Any] {
        JSON.members(
            of: try self.inspection.object(path, InspectorQuery(values), now: Date(timeIntervalSince1970: 0)))
    }

    /// Seconds since the beginning at an entry of the history.
    func seconds(_ index: Int) -> Double {
        let begin = self.recording.times?.lowerBound ?? RecordingTime(nanoseconds: 0)
        let time = RunRecording.virtualBegin + (self.history.entries[index].instant - Instant(nanoseconds: 0))
        return (time - begin) / .seconds(1)
    }
}

extension [String: Any] {
    func object(_ key: String) -> [String: Any] { self[key] as? [String: Any] ?? [:] }
    func objects(_ key: String) -> [[String: Any]] { self[key] as? [[String: Any]] ?? [] }
    func text(_ key: String) -> String { self[key] as? String ?? "" }
}
