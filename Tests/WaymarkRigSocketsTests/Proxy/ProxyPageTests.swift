import Foundation
import Testing
import WaymarkFaults
import WaymarkHistory
import WaymarkRig
import WaymarkRigSockets
import WaymarkScenario

/// Docs/proxy.md, and the form of files with faults.
@Suite(.timeLimit(.minutes(5))) struct ProxyPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The examples of files on the page.
    private static let examples: [String] = {
        do {
            let page = try String(contentsOf: root.appending(path: "Docs/proxy.md"), encoding: .utf8)
            return page.matches(of: /(?s)```yaml\n(.*?)```/).map { String($0.1) }
        } catch {
            return []  // The next test fails.
        }
    }()

    @Test func `the page has an example of each kind`() throws {
        let kinds = try Self.examples.flatMap { try ScenarioReader.proxyFaults($0, file: "page").faults }
            .map(\.text).compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(kinds) == Set(Scenario.Fault.Kind.allCases.map(\.rawValue)))
    }

    @Test(arguments: examples.filter { !$0.hasPrefix("about") })
    func `the example of a kind does what it says`(_ example: String) async throws {
        let kind = try #require(example.firstMatch(of: /kind: ([a-z-]+)/).map { String($0.1) })
        let text = try #require(example.firstMatch(of: /(?s)faults: \[(.*)\]\n/).map { String($0.1) })
        let bench = try await ProxyBench([text])
        let peer = await bench.peer()
        for number in 1...3 { await bench.ends.send(Frames.road(UInt64(number)), on: peer) }
        await bench.until { event in
            guard case .fault(let record) = event else { return false }
            return record.kind == kind
        }
        await bench.stop()
    }

    @Test func `the reader accepts the right files of faults, and no others`() throws {
        let data = try Data(contentsOf: Self.root.appending(path: "Tests/RigCases/faults.json"))
        let cases = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(cases.count >= 100)
        for known in cases {
            let document = try JSONSerialization.data(
                withJSONObject: try #require(known["document"]), options: .fragmentsAllowed)
            var errors = ""
            do throws(ScenarioErrors) {
                _ = try ScenarioReader.proxyFaults(
                    String(decoding: document, as: UTF8.self), file: "faults.yaml")
            } catch { errors = "\(error)" }
            #expect(
                errors.isEmpty == (known["valid"] as? Bool), "\(known["name"] ?? ""): \(errors)")
        }
    }

    @Test func `the keys of faults are those of scenarios, and a name`() throws {
        func keys(_ file: String) throws -> Set<String> {
            let folder = "Sources/WaymarkCommandLine/Resources/scenarios"
            let data = try Data(contentsOf: Self.root.appending(path: "\(folder)/\(file)"))
            let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
            return Set(try #require(definitions["fault"]?["properties"] as? [String: Any]).keys)
        }
        let scenario = try keys("scenario.schema.json").subtracting(["gateway"])
        #expect(try keys("faults.schema.json") == scenario.union(["name"]))
    }
}
