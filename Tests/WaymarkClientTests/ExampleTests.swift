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
        let cluster = try Program("VehicleEndpointExample", service.vehicle)
        let app = try Program("NavigationClientExample", service.navigation)
        let (driven, appStatus) = await app.result
        let (shown, clusterStatus) = await cluster.result
        #expect(appStatus == 0 && clusterStatus == 0)
        #expect(driven.contains("example-car and the destination: accepted"), "\(driven)")
        for line in ["to Gutenberg Castle, Balzers", "on Landstrasse", "the drive is over"] {
            #expect(shown.contains(line), "\(shown)")
        }
        await service.stop()
    }

    /// A program of the build, running.
    private struct Program {
        private let lines: AsyncStream<String>
        private let ended: AsyncStream<Int32>

        init(_ name: String, _ address: ServiceAddress) throws {
            let (lines, tell) = AsyncStream.makeStream(of: String.self)
            let (ended, end) = AsyncStream.makeStream(of: Int32.self)
            (self.lines, self.ended) = (lines, ended)
            let (process, pipe) = (Process(), Pipe())
            process.executableURL = ExampleTests.products.appending(path: name)
            process.arguments = ["\(address)"]
            process.standardOutput = pipe
            pipe.fileHandleForReading.readabilityHandler = { handle in
                let data = handle.availableData
                if data.isEmpty {
                    handle.readabilityHandler = nil
                    tell.finish()
                } else {
                    tell.yield(String(decoding: data, as: UTF8.self))
                }
            }
            process.terminationHandler = {
                end.yield($0.terminationStatus)
                end.finish()
            }
            try process.run()
        }

        /// What it printed and its exit status, once it has ended.
        var result: (output: String, status: Int32?) {
            get async {
                var (output, status): (String, Int32?) = ("", nil)
                for await part in self.lines { output += part }
                for await code in self.ended { status = code }
                return (output, status)
            }
        }
    }
}
