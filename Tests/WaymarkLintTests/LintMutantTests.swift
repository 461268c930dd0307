import Foundation
import RigMutants
import Testing
import WaymarkLint
import WaymarkProtocol
import WaymarkRoutes

/// Clients with a mistake each, on the shipped routes.
@Suite struct LintMutantTests {
    private static let drives: [PublishedDrive] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/WaymarkCommandLine/Resources/routes")
        let names = ["heidelberg-lanes", "singapore-left-hand", "vaduz-balzers-charging"]
        return names.compactMap { name in
            let file = folder.appending(path: "\(name).json")
            guard let answer = try? RouteReader.read([UInt8](Data(contentsOf: file))) else { return nil }
            return PublishedDrive(answer.routes[0], answer.trip(id: "t"))
        }
    }()

    @Test(arguments: Mutation.ofContent + Mutation.ofDrive)
    func `a client with a mistake is found by its rule`(_ mutation: Mutation) {
        #expect(Self.drives.count == 3)
        let found = Set(
            Self.drives.flatMap { LintSketch.findings(mutation.publications(of: $0)) }.map(\.rule))
        if let expected = mutation.expected {
            #expect(found.contains(expected), "found: \(found)")
        } else {
            // One that is found from now on has its rule in the list.
            #expect(found == [])
        }
    }

    @Test func `a client without a mistake has no findings`() {
        for drive in Self.drives { #expect(LintSketch.findings(drive.publications) == []) }
    }

    @Test func `most mistakes are found`() {
        let all = Mutation.ofContent + Mutation.ofDrive
        let found = all.count { $0.expected != nil }
        print("lint rules find \(found) of \(all.count) mistakes of clients")
        #expect(all.count >= 60)
        #expect(found * 10 >= all.count * 8)
        #expect(Set(all.map(\.sentence)).count == all.count)
    }
}
