import Foundation
import Testing
import WaymarkClient

/// Docs/client.md: its examples are programs, and they do what it says.
@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Where the build has put this test and, beside it, the examples.
    private static var products: URL {
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    }

    @Test(arguments: [
        "navigation-client/NavigationClientExample.swift", "vehicle-endpoint/VehicleEndpointExample.swift",
    ])
    func `the page shows the example as it is compiled`(_ file: String) throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Docs/client.md"), encoding: .utf8)
        let example = try String(
            contentsOf: Self.root.appending(path: "Docs/examples/\(file)"), encoding: .utf8)
        #expect(page.contains("```swift\n\(example)```"))
    }

    @Test func `the examples run against each other`() async throws {
        let service = try await Service.start()
        let cluster = try Program("VehicleEndpointExample", service.vehicle, in: service.folder)
        let app = try Program("NavigationClientExample", service.navigation, in: service.folder)
        let (driven, appStatus) = try await app.result()
        let (shown, clusterStatus) = try await cluster.result()
        #expect(appStatus == 0 && clusterStatus == 0)
        #expect(driven.contains("example-car and the destination: accepted"), "\(driven)")
        for line in ["to Gutenberg Castle, Balzers", "on Landstrasse", "the drive is over"] {
            #expect(shown.contains(line), "\(shown)")
        }
        await service.stop()
    }

    /// A program of the build, running; what it prints goes into a file.
    private struct Program {
        private let file: URL
        private let ended: AsyncStream<Int32>

        init(_ name: String, _ address: ServiceAddress, in folder: String) throws {
            self.file = URL(filePath: folder).appending(path: "\(name).txt")
            try Data().write(to: self.file)
            let (ended, end) = AsyncStream.makeStream(of: Int32.self)
            self.ended = ended
            let process = Process()
            process.executableURL = ExampleTests.products.appending(path: name)
            process.arguments = ["\(address)"]
            process.standardOutput = try FileHandle(forWritingTo: self.file)
            process.terminationHandler = {
                end.yield($0.terminationStatus)
                end.finish()
            }
            try process.run()
        }

        /// What it printed and its exit status, once it has ended.
        func result() async throws -> (output: String, status: Int32?) {
            var status: Int32?
            for await code in self.ended { status = code }
            return (try String(contentsOf: self.file, encoding: .utf8), status)
        }
    }
}
