import Foundation
import Testing
import WaymarkProtocol

/// The files of the package, staged with the programs that were built with the tests.
@Suite(.timeLimit(.minutes(5))) struct StageTests {
    private static let tree = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let build = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()
        .path

    @Test func `the package has no broken links, and its manual pages contain no Markdown`()
        async throws
    {
        let root = try RunningDaemon.newFolder()
        defer { try? FileManager.default.removeItem(atPath: root) }
        let stage = try Program(command: [
            "bash", "-c", "'\(Self.tree)/scripts/release/stage.sh' '\(Self.build)' \(root) 2>&1",
        ])
        #expect(await stage.end() == 0, "\(stage.lines)")
        for page in ["man1/waymark.1", "man5/waymarkd.yaml.5"] {
            let text = try String(contentsOfFile: "\(root)/usr/share/man/\(page)", encoding: .utf8)
            var isExample = false
            for line in text.split(separator: "\n") {
                if line == ".nf" || line == ".fi" { isExample = line == ".nf" }
                guard !isExample else { continue }
                #expect(!line.contains("`") && !line.contains("]("), "\(page): \(line)")
                let parts = line.split(separator: "\\fB", omittingEmptySubsequences: false)
                #expect(parts.dropFirst().allSatisfy { $0.contains("\\fR") }, "\(page): \(line)")
            }
        }
        for program in ["bin/waymark", "sbin/waymarkd"] {
            let version = try Program(command: ["\(root)/usr/\(program)", "--version"])
            #expect(await version.end() == 0)
            #expect(version.lines == ["waymark \(Software.version)"])
        }
    }

    @Test func `programs, package and documents have the same version`() async throws {
        let version = try Program(command: ["\(Self.tree)/scripts/release/version.sh"])
        #expect(await version.end() == 0)
        #expect(version.lines == [Software.version])
        for page in ["README.md", "Docs/operations.md"] {
            let text = try String(contentsOfFile: "\(Self.tree)/\(page)", encoding: .utf8)
            for match in text.matches(of: /waymark_([0-9.]+)-1_amd64/) {
                #expect(match.output.1 == Software.version, "\(page)")
            }
        }
    }

    @Test func `the list of requirements has every requirement of the protocol's page`() async throws {
        let page = try String(contentsOfFile: "\(Self.tree)/Docs/protocol.md", encoding: .utf8)
        let list = try Program(command: ["\(Self.tree)/scripts/generate/requirements.py"])
        #expect(await list.end() == 0)
        #expect(
            list.lines.compactMap { $0.wholeMatch(of: /(REQ-[A-Z]+-\d\d)\t[^\t]+/)?.output.1 }
                == page.matches(of: /<a id="req-[^"]+"><\/a>\[([^\]]+)\]/).map(\.output.1))
        #expect(list.lines.count > 200)
    }

    @Test func `a broken link is found`() async throws {
        let folder = try RunningDaemon.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try
            "# A page\n<a id=\"an-anchor\"></a>[a](b.md) [c](#a-page) [d](#nothing) [e](https://example.org/) [f](#an-anchor)\n"
            .write(
                toFile: "\(folder)/page.md", atomically: true, encoding: .utf8)
        let check = try Program(command: [
            "bash", "-c", "'\(Self.tree)/scripts/release/links.py' \(folder) 2>&1",
        ])
        #expect(await check.end() == 1)
        #expect(check.lines.dropFirst() == ["\(folder)/page.md: b.md", "\(folder)/page.md: #nothing"])
    }
}
