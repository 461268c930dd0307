import Foundation
import Testing

@testable import WaymarkInspector
@testable import WaymarkTexts

@Suite(.timeLimit(.minutes(10))) struct LanesTests {
    private static let text = """
        route: vaduz-balzers
        speed: 10
        vehicle: { endpoints: { cluster: {}, hud: {} } }
        ended: finished
        """

    /// All parts of a question.
    private static func parts(
        _ drive: inout InspectedDrive, _ values: [String: String]
    ) throws -> [[String: Any]] {
        var (parts, values) = ([[String: Any]](), values)
        for _ in 0..<100 {
            let part = try drive.ask("lanes", values)
            parts.append(part)
            guard let next = part["next"] as? String else { return parts }
            values["after"] = next
        }
        Issue.record("there is no last part")
        return parts
    }

    @Test(arguments: [1, 20, 400])
    func `a curve has at most two points in each column of a part`(_ columns: Int) throws {
        var drive = try InspectedDrive(Self.text)
        let parts = try Self.parts(&drive, ["id": "dut", "columns": "\(columns)"])
        for part in parts {
            #expect((part["publications"] as? [Int])?.count == columns)
            for curve in part.objects("curves") {
                let points = curve["points"] as? [[Double]] ?? []
                #expect(!points.isEmpty && points.count <= 2 * columns, "\(curve.text("name"))")
                #expect(points.map { $0[0] } == points.map { $0[0] }.sorted())
            }
            for lane in ["maneuver", "state", "lanes", "alert"] {
                // The last one of a column counts, and one holds at the beginning.
                #expect(part.objects("bands").filter { $0.text("lane") == lane }.count <= columns + 1)
            }
        }
    }

    @Test func `every publication is counted once, and bands are words of updates`() throws {
        var drive = try InspectedDrive(Self.text)
        let parts = try Self.parts(&drive, ["id": "dut", "columns": "400"])
        let counted = parts.flatMap { $0["publications"] as? [Int] ?? [] }.reduce(0, +)
        let newest = try drive.ask("updates", ["id": "dut", "limit": "1"]).objects("rows").first
        #expect(counted == newest?["sequence"] as? Int)
        let bands = parts.flatMap { $0.objects("bands") }
        #expect(Set(bands.map { $0.text("lane") }).isSuperset(of: ["maneuver", "state"]))
        let curves = Set(parts.flatMap { $0.objects("curves") }.map { $0.text("name") })
        #expect(curves.isSuperset(of: ["distanceLeft", "timeLeft"]))
    }

    @Test(arguments: [
        (["columns": "10"], "id"), (["id": "dut", "columns": "0"], "columns"),
        (["id": "dut", "columns": "1001"], "columns"), (["id": "dut", "from": "9", "to": "1"], "to"),
        (["id": "dut", "after": "x"], "after"),
    ])
    func `what cannot be answered is refused with the field`(_ values: [String: String], _ field: String)
        throws
    {
        var drive = try InspectedDrive(Self.text)
        let error = #expect(throws: InspectorError.self) { try drive.ask("lanes", values) }
        #expect(error?.field == field)
    }
}
