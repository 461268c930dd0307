import Foundation
import Testing
import WaymarkClient
import WaymarkLint
import WaymarkModel
import WaymarkProtocol
import WaymarkScenario

/// Tests/RigCases/scenarios.json, to which the JSON Schema is held too: Tests/Python/test_rig_cases.py.
@Suite struct ScenarioCorpusTests {
    private struct Document: Decodable {
        let name: String
        let document: JSONValue
        let valid: Bool
        let error: String?
    }

    @Test func `the reader accepts the right documents and no others`() throws {
        let documents = try RigCases.read("scenarios.json", as: Document.self)
        #expect(documents.count >= 200)
        for each in documents {
            let errors = ScenarioTests.errors(try each.document.text)
            #expect(errors.isEmpty == each.valid, "\(each.name): \(errors)")
            if let error = each.error {
                #expect(errors.contains { $0.contains(error) }, "\(each.name): \(errors)")
            }
            #expect(errors.allSatisfy { !$0.contains(":0:") }, "\(each.name): \(errors)")
        }
    }

    /// Values of the schema's enumerations, by the key that has them.
    private static let enumerations: [String: [String]] = [
        "arbitration": ["refuse", "replace", "priority"],
        "without-features": GuidanceFeature.allCases.map(\.rawValue),
        "stop-kind": StopKind.allKnown.map(\.name), "cancel": CancelReason.allCases.map { "\($0)" },
        "contentStyle": ContentStyle.allKnown.map(\.name), "compass": ClusterSetting.allKnown.map(\.name),
        "speedLimit": ClusterSetting.allKnown.map(\.name),
        "route-source": RouteSource.allKnown.map(\.name), "zoom": ZoomDirection.allKnown.map(\.name),
        "simulate-drive": SimulationAction.allKnown.map(\.name),
        "pause": PauseReason.allKnown.map(\.name), "reason": RerouteReason.allKnown.map(\.name),
        "outcome": Outcome.allCases.map { "\($0)" },
        "ending": SessionEndReason.allCases.filter { $0 != .unrecognized }.map { "\($0)" },
        "clock": Scenario.Clock.allCases.map(\.rawValue), "reply": Scenario.Reply.allCases.map(\.rawValue),
        "waits-for": Scenario.Client.Waiting.allCases.map(\.rawValue),
        "on-waypoint": Scenario.Client.WaypointReply.allCases.map(\.rawValue),
        "leave": Scenario.Action.Leaving.allCases.map(\.rawValue),
        "end": Scenario.Action.Ending.allCases.map(\.rawValue),
        "kind": Scenario.Fault.Kind.allCases.map(\.rawValue),
        "kinds": Scenario.Fault.Kind.allCases.filter { $0 != .chaos }.map(\.rawValue),
        "towards": Scenario.Fault.Way.allCases.map(\.rawValue),
        "with": Scenario.Fault.CutEnding.allCases.map(\.rawValue),
        "message": MessageType.allCases.map { "\($0)" }, "lint": LintID.allCases.map(\.rawValue),
        "notification": NotificationStyle.allKnown.map(\.name),
        "priority": AlertPriority.allKnown.map(\.name), "route": Self.shipped("routes"),
        "profile": Self.shipped("profiles"),
    ]

    /// The names of the files that ship, without their ending.
    private static func shipped(_ folder: String) -> [String] {
        let url = ScenarioTests.shipped.deletingLastPathComponent().appending(path: folder)
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)
        return (files?.compactMap { ($0 as? URL)?.lastPathComponent } ?? [])
            .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) }
    }

    @Test func `the schema's enumerations are those of the code`() throws {
        let url = ScenarioTests.shipped.appending(path: "scenario.schema.json")
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        var found: [String: [Set<String>]] = [:]
        Self.collect(schema, key: "", into: &found)
        for (key, values) in Self.enumerations {
            #expect(found[key]?.contains(Set(values)) == true, "\(key): \(found[key] ?? []), not \(values)")
        }
        // `gateway` has two: how it is chosen, and its faults. SchemaFieldTests has the paths and words of fields; words begin with a capital.
        let known = Set(Self.enumerations.keys)
        let others = [
            "gateway", "drives", "return", "answer-prompt", "answer-destination", "limitedUserInterfaces",
            "path",
        ]
        let unknown = Set(found.keys).subtracting(known).subtracting(others)
        #expect(unknown.allSatisfy { $0.first?.isUppercase == true }, "\(unknown)")
        #expect(found["gateway"] == [Set(Scenario.Fault.GatewayFault.allCases.map(\.rawValue))])
    }

    /// The `enum`s of a schema by the property or definition that they are in; conditions of other keys do not count.
    private static func collect(_ value: Any, key: String, into found: inout [String: [Set<String>]]) {
        if let list = value as? [Any] {
            for element in list { Self.collect(element, key: key, into: &found) }
        }
        guard let object = value as? [String: Any] else { return }
        if let values = object["enum"] as? [String] { found[key, default: []].append(Set(values)) }
        for (name, inner) in object where !["allOf", "if", "propertyNames"].contains(name) {
            let isKeyword = ["properties", "$defs", "items", "oneOf", "anyOf", "then", "else", "not"]
                .contains(name)
            Self.collect(inner, key: isKeyword ? key : name, into: &found)
        }
    }
}
