import Foundation
import Testing

@Suite struct ModuleTests {
    @Test func `an app that uses only the client compiles neither the gateway nor the transport`() throws {
        let common: Set = [
            "CProtobufC", "CWaymarkWire", "NetworkErrors", "ProcessIO", "WaymarkClient", "WaymarkCodec",
            "WaymarkModel", "WaymarkProtocol",
        ]
        #expect(try Manifest.read().modules(under: "WaymarkClient") == common)
    }

    @Test func `an app that uses only routes compiles neither the gateway nor the transport`() throws {
        #expect(
            try Manifest.read().modules(under: "WaymarkRoutes")
                == ["ProcessIO", "WaymarkModel", "WaymarkProtocol", "WaymarkRoutes"])
    }

    @Test func `a test that uses only the rig compiles neither sockets of the gateway nor the programs`()
        throws
    {
        let modules = try Manifest.read().modules(under: "WaymarkRig")
        #expect(modules.contains("GatewayInMemory"))
        #expect(
            modules.isDisjoint(with: [
                "CSystemd", "ListeningSockets", "Simulation", "Systemd", "WaymarkTransport", "WaymarkDaemon",
                "WaymarkCommandLine",
            ]))
    }

    @Test func `the inspector is built without the rig and without a gateway in memory`() throws {
        for module in ["WaymarkInspector", "WaymarkInspectorServer", "WaymarkLint", "WaymarkTexts"] {
            let modules = try Manifest.read().modules(under: module)
            #expect(
                modules.isDisjoint(with: ["GatewayInMemory", "WaymarkConnections", "WaymarkRig"]), "\(module)"
            )
        }
    }

    @Test(arguments: ["Lint.swift", "Navigate.swift", "Status.swift", "Watch.swift"])
    func `a command that runs no scenario does not import the rig`(_ file: String) throws {
        let url = packageRoot.appending(path: "Sources/WaymarkCommandLine/Commands/\(file)")
        #expect(!(try String(contentsOf: url, encoding: .utf8)).contains("import WaymarkRig"))
    }

    @Test func `no product is built on the random simulator`() throws {
        for product in ["WaymarkClient", "WaymarkRig", "WaymarkRoutes", "waymark", "waymarkd"] {
            #expect(try !Manifest.read().modules(under: product).contains("Simulation"), "\(product)")
        }
    }

    @Test(arguments: swiftModules)
    func `a module has at most 12 000 lines`(_ module: String) throws {
        let count = try sources(of: module).reduce(0) { count, file in
            count
                + (try String(contentsOf: file, encoding: .utf8)).utf8.count(where: {
                    $0 == UInt8(ascii: "\n")
                })
        }
        #expect(count <= 12_000)
    }
}

@Suite struct ArticleTests {
    /// Every line of an example without its indentation.
    private static func examples() throws -> [[String]] {
        let folder = packageRoot.appending(path: "Docs/examples")
        let files = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map { file in
            Self.lines(try String(contentsOf: file, encoding: .utf8))
        }
    }

    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    @Test func `the code of every article is taken from an example that is compiled`() throws {
        let examples = try Self.examples()
        var count = 0
        for catalog in ["WaymarkClient", "WaymarkRoutes"] {
            let folder = packageRoot.appending(path: "Sources/\(catalog)/\(catalog).docc")
            for file in try FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)
            {
                let article = try String(contentsOf: file, encoding: .utf8)
                for block in article.matches(of: /(?s)```swift\n(.*?)\n```/) {
                    let code = Self.lines(block.1)
                    count += 1
                    #expect(
                        examples.contains { $0.firstRange(of: code) != nil },
                        "\(file.lastPathComponent): \(code.first ?? "")")
                }
            }
        }
        #expect(count > 8)
    }

    @Test func `the tests of the page about the rig are taken from an example that runs`() throws {
        let examples = try Self.examples()
        let page = try String(contentsOf: packageRoot.appending(path: "Docs/rig.md"), encoding: .utf8)
        // Behind the manifest, and without the test that is red.
        let blocks = page.matches(of: /(?s)```swift\n(.*?)\n```/).dropFirst().filter {
            !$0.1.contains(".leftTurn")
        }
        #expect(blocks.count == 3)
        for block in blocks {
            let code = Self.lines(block.1)
            #expect(examples.contains { $0.firstRange(of: code) != nil }, "\(code.first ?? "")")
        }
    }
}

@Suite struct NameTests {
    /// The top-level types of a module that other files can see. In a file that is inside `#if` they are indented.
    private static func types(of module: String) throws -> Set<String> {
        let levels: Set = ["public", "package", "internal", "final", "indirect"]
        let kinds: Set = ["enum", "struct", "class", "actor", "protocol", "typealias"]
        var types: Set<String> = []
        for file in try sources(of: module) {
            let text = try String(contentsOf: file, encoding: .utf8)
            let indent = text.hasPrefix("#if") ? 4 : 0
            for line in text.split(separator: "\n") where line.prefix(while: { $0 == " " }).count == indent {
                let words = line.split(separator: " ")
                    .drop { levels.contains(String($0)) || $0.hasPrefix("@") }
                guard words.count > 1, kinds.contains(String(words[words.startIndex])) else { continue }
                let name = words[words.startIndex + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                types.insert(String(name))
            }
        }
        return types
    }

    @Test func `no two modules have a type of the same name`() throws {
        var owners: [String: String] = [:]
        // Both executables have a `Main`.
        for module in swiftModules where !["waymark", "waymarkd"].contains(module) {
            for type in try Self.types(of: module) {
                let owner = owners.updateValue(module, forKey: type)
                #expect(owner == nil, "\(type) in \(module) and \(owner ?? "")")
            }
        }
    }
}
