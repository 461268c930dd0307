import Foundation
import RecordedRoutes
import Testing
import WaymarkRoutes

/// Real answers of engines: those shipped with the package, and those in a folder beside it.
struct RouteFile: Sendable, CustomTestStringConvertible {
    let url: URL
    let name: String

    var testDescription: String { self.name }

    func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: self.url)) }

    /// The answer, parsed by another JSON parser.
    func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: self.url)) as? [String: Any])
    }

    func answer(_ options: RouteReadingOptions = RouteReadingOptions()) throws -> RouteAnswer {
        try RouteReader.read(self.bytes(), options: options)
    }

    /// The sample routes that ship with the project.
    static let shipped = RecordedRoutes.shipped.map { RouteFile(url: $0.url, name: $0.name) }

    /// The recorded answers; empty if there are none beside the package.
    static let recorded = RecordedRoutes.recorded.map { RouteFile(url: $0.url, name: $0.name) }

    /// The files that contain routes.
    static let readable: [RouteFile] = (shipped + recorded).filter { file in
        (try? file.answer()) != nil
    }

    static func named(_ name: String) -> RouteFile? {
        (recorded + shipped).first { $0.name.hasSuffix(name) }
    }
}
