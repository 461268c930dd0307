import Foundation
import Testing

let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The modules that `Package.swift` declares. It is the one table of what imports what: the imports in the sources and the levels in
/// Docs/architecture.md are compared with it.
struct Manifest {
    /// The modules that each target may import: targets of this package and products of others.
    let dependencies: [String: Set<String>]

    private static let result = Result { try Manifest() }

    /// Reads `Package.swift` once.
    static func read() throws -> Manifest { try self.result.get() }

    private init() throws {
        let text = try String(contentsOf: packageRoot.appending(path: "Package.swift"), encoding: .utf8)
        let products = text.matches(of: /let (\w+): Target\.Dependency = \.product\(\s*name: "([\w-]+)"/)
        let names = Dictionary(uniqueKeysWithValues: products.map { (String($0.1), String($0.2)) })
        var dependencies: [String: Set<String>] = [:]
        for target in text.split(separator: /\.(?:executableTarget|testTarget|target|systemLibrary)\(/)
            .dropFirst()
        {
            guard let name = target.firstMatch(of: /name: "([\w-]+)"/)?.1 else { continue }
            let list =
                target.firstMatch(of: /dependencies: (\[[^;]*?\])(?:,\s*\w+:|\s*\)\s*,?\s*(?:\/\/|$|\n))/)?.1
                ?? ""
            let plain = list.replacing(/package: "[^"]*"|traits: \[[^\]]*\]/, with: "")
            let constants = plain.replacing(/"[^"]*"/, with: "").matches(of: /\w+/)
            dependencies[String(name)] = Set(plain.matches(of: /"([\w-]+)"/).map { String($0.1) })
                .union(constants.compactMap { names[String($0.output)] })
        }
        self.dependencies = dependencies
    }

    /// The modules of this package that someone compiles who uses `module` alone.
    func modules(under module: String) -> Set<String> {
        var modules: Set<String> = []
        var found = [module]
        while let module = found.popLast() {
            guard let next = self.dependencies[module], modules.insert(module).inserted else { continue }
            found += next
        }
        return modules
    }

    /// The level of a module of ours: one above the highest that it imports, 0 if it imports none of ours; nil for any other module.
    func level(of module: String) -> Int? {
        guard swiftModules.contains(module), let imported = self.dependencies[module] else { return nil }
        return 1 + (imported.compactMap(self.level).max() ?? -1)
    }
}

/// Our modules in Swift.
let swiftModules: [String] = {
    let folder = packageRoot.appending(path: "Sources").path
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let others: Set = ["CMalloc", "CSystemd", "CProtobufC", "CWaymarkWire", "CZlib", "python", "conformance"]
    return found.filter { !others.contains($0) }.sorted()
}()

/// The Swift files of a module.
func sources(of module: String) throws -> [URL] {
    let folder = packageRoot.appending(path: "Sources/\(module)")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
}
