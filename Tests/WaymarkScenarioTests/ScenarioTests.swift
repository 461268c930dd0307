import Foundation
import Testing
import WaymarkConfiguration
import WaymarkModel
import WaymarkProtocol
import WaymarkScenario

@Suite struct ScenarioTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let shipped = root.appending(path: "Sources/WaymarkCommandLine/Resources/scenarios")

    /// The lines of what is wrong with a text; empty if nothing is.
    static func errors(_ text: String) -> [String] {
        do throws(ScenarioErrors) {
            _ = try ScenarioReader.read(text, file: "a.scenario.yaml")
            return []
        } catch { return error.errors.map(\.description) }
    }

    @Test(
        arguments: try FileManager.default.contentsOfDirectory(atPath: shipped.path).filter {
            $0.hasSuffix(".yaml")
        })
    func `every shipped scenario can be read`(_ file: String) throws {
        let text = try String(contentsOf: Self.shipped.appending(path: file), encoding: .utf8)
        _ = try ScenarioReader.read(text, file: file)
    }

    @Test func `a scenario has what its file says`() throws {
        let text = try String(
            contentsOf: Self.shipped.appending(path: "gateway-dies.scenario.yaml"), encoding: .utf8)
        let scenario = try ScenarioReader.read(text, file: "g.yaml")
        #expect(scenario.route?.text == "vaduz-balzers")
        #expect(scenario.vehicles.map(\.id.rawValue) == ["dut"])
        #expect(scenario.steps.count == 3)
        #expect(scenario.steps[0].name == "the gateway dies")
        #expect(scenario.steps[0].waiting == .position(.meters(3_000)))
        #expect(scenario.steps[0].faults.map(\.target) == [.gateway(.kill)])
        #expect(scenario.steps[0].faults.first?.duration == .milliseconds(800))
        #expect(scenario.steps[0].expectations.count == 2)
        #expect(scenario.steps[2].faults.count == 3)
        let cluster = PeerSelector.endpoint(VehicleID(unchecked: "dut"), EndpointName(unchecked: "cluster"))
        #expect(scenario.steps[2].faults[0].target == .link(cluster, .cut))
        #expect(scenario.steps[1].expectations.map(\.word) == [.holdsWhatWasPublished(within: .seconds(3))])
        #expect(scenario.steps[1].expectations.first?.location.line == 11)
    }

    @Test func `an unknown key is an error with line and column`() {
        let text = """
            route: vaduz-balzers
            steps:
              - at: 2km
                do: { requst: { waypoint: [47, 9] } }
            """
        let errors = Self.errors(text)
        #expect(errors.first == "a.scenario.yaml:4:11: unknown key requst in do; did you mean request?")
    }

    @Test func `all errors of a file are found at once, in its order`() {
        let text = """
            rout: vaduz-balzers
            client: { drives: when-told, speed: -1 }
            expect:
              - { eventually: { nxt.id: 4 }, within: 2s }
              - { always: { next.type: rihgtTurn } }
            """
        #expect(
            Self.errors(text) == [
                "a.scenario.yaml:1:1: unknown key rout in the scenario; did you mean route?",
                "a.scenario.yaml:2:37: speed must be a number above 0, at most 10000",
                "a.scenario.yaml:4:21: unknown key nxt of the state; did you mean next?",
                "a.scenario.yaml:5:28: rihgtTurn is not a value of next.type; did you mean rightTurn?",
            ])
    }

    @Test(arguments: [
        ("", "1:1: the file is empty"),
        ("a: [", "2:1: "),
        (
            "route: &a x\nended: finished",
            "1:8: anchors and aliases are not allowed: a scenario has no templates"
        ),
        ("route: a\nroute: b", "2:1: the key route is there twice; first in line 1"),
        (
            "route: a\nended: finished\nvehicles:\n  1: {}\n  '1': {}",
            "5:3: the key 1 is there twice; first in line 4"
        ),
        ("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "1:17: a scenario has at most 16 levels"),
        ("- 1", "1:1: the scenario must be a mapping"),
        ("ended: finished", "1:1: client drives at once, and has no route"),
        ("route: a\nended: finished\nclock: virtual\nvehicle: {command: [x]}", "1:1: a program takes part"),
    ])
    func `what is no scenario is an error`(_ text: String, _ start: String) {
        let errors = Self.errors(text)
        #expect(errors.first?.hasPrefix("a.scenario.yaml:" + start) == true, "\(errors)")
    }

    @Test func `a scenario of more than a mebibyte is not read`() {
        let text = "route: a\nended: finished\n#" + String(repeating: "x", count: 1 << 20)
        #expect(Self.errors(text) == ["a.scenario.yaml:1:1: a scenario has at most 1 MiB"])
    }

    @Test func `brackets without end are an error`() {
        let errors = Self.errors(String(repeating: "[", count: 100_000))
        #expect(errors.count == 1)
        #expect(errors.first?.contains("nesting level") == true)
    }

    @Test func `minutes are not metres`() {
        #expect(
            Self.errors("route: a\nended: finished\nat-most: 5m") == [
                "a.scenario.yaml:3:10: at-most must be a time, e.g. 300ms, 2s, 5min or 1h; minutes are min"
            ])
    }

    @Test func `of several vehicles an expectation must name one`() {
        let text = "route: a\nvehicles: {one: {}, two: {}}\nexpect: { gap: { below: 2s } }"
        #expect(Self.errors(text) == ["a.scenario.yaml:3:11: the scenario has 2 vehicles: say which by of"])
        #expect(Self.errors(text.replacing("gap:", with: "of: two, gap:")).isEmpty)
        #expect(
            Self.errors(text.replacing("gap:", with: "of: tow, gap:")) == [
                "a.scenario.yaml:3:15: tow is no peer of this scenario; did you mean two?"
            ])
    }

    @Test func `the state of a vehicle with several endpoints is that of a named one`() {
        let text = """
            route: a
            vehicle: { endpoints: { cluster: {}, hud: {} } }
            expect: { of: dut, eventually: { phase: active }, within: 1s }
            """
        #expect(
            Self.errors(text) == [
                "a.scenario.yaml:3:32: dut has several endpoints: say which by of, e.g. dut/cluster"
            ])
        #expect(Self.errors(text.replacing("dut,", with: "dut/hud,")).isEmpty)
    }

    @Test func `a verb is for vehicles or for clients`() {
        let text = "route: a\nsteps: [{ do: { as: client, zoom: in } }]"
        #expect(Self.errors(text) == ["a.scenario.yaml:2:29: client is a client, and zoom is for vehicles"])
    }
}

/// Docs/testing.md.
@Suite struct TestingPageTests {
    @Test func `every example of the page can be read`() throws {
        let page = try String(
            contentsOf: ScenarioTests.root.appending(path: "Docs/testing.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count >= 13)
        for block in blocks {
            let text = block.contains("route:") ? block : "route: vaduz-balzers\n" + block
            #expect(ScenarioTests.errors(text) == [], "\(block)")
        }
    }
}
