import Foundation
import RigMutants
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

/// Real routes are the judges of the rules: their drives must have no findings.
@Suite struct LintRouteTests {
    /// A recorded answer of a routing engine.
    struct File: Sendable, CustomTestStringConvertible {
        let url: URL
        var testDescription: String { self.url.lastPathComponent }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let environment = ProcessInfo.processInfo.environment

    /// A drive of this length takes long to judge, so it is driven only with `WAYMARK_LINT_ALL`.
    private static let longMeters: UInt32 = 15_000

    /// The shipped routes, and those of `WAYMARK_ROUTES` or of the folder beside the package.
    private static let files: [File] = {
        let shipped = Self.found(in: Self.root.appending(path: "Sources/WaymarkCommandLine/Resources/routes"))
        let folder =
            Self.environment["WAYMARK_ROUTES"].map { URL(filePath: $0) }
            ?? Self.root.deletingLastPathComponent().appending(path: "shared/routes")
        let recorded = Self.found(in: folder)
        if recorded.isEmpty {
            print("notice: no recorded routes in \(folder.path): set WAYMARK_ROUTES; skipped")
        }
        return shipped + recorded
    }()

    private static func found(in folder: URL) -> [File] {
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL } ?? []
        return files.filter { $0.pathExtension == "json" && !$0.path.contains("/traces/") }
            .sorted { $0.path < $1.path }.map { File(url: $0) }
    }

    @Test(arguments: Self.files)
    func `no shipped or shared route has a finding`(_ file: File) throws {
        // Some files are no answers, or refuse to be one.
        guard let answer = try? RouteReader.read([UInt8](Data(contentsOf: file.url))) else { return }
        let isEveryOneDriven = Self.environment["WAYMARK_LINT_ALL"] != nil
        for (index, route) in answer.routes.enumerated() {
            let trip = Drive(route: route).information.tripTravelEstimates
            let meters = try #require(trip).distanceRemaining.meters
            guard isEveryOneDriven || meters < Self.longMeters else { continue }
            for speed in [1.0, 20] {
                let drive = PublishedDrive(route, answer.trip(id: "t"), speed: speed)
                #expect(drive.publications.count > 3)
                for finding in LintSketch.findings(drive.publications) {
                    let seconds = Double(finding.instant.nanoseconds) / 1e9
                    Issue.record(
                        "route \(index), speed \(speed), \(seconds) s: \(finding.rule) \(finding.field): \(finding.text)"
                    )
                }
            }
        }
    }

    @Test func `there are routes to drive`() { #expect(Self.files.count >= 4) }
}
