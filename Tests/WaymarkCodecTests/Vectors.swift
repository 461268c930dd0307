import Foundation
import Testing
import WaymarkProtocol

/// A value of the JSON form, see Protos/vectors/README.md.
enum JSON: Decodable, Hashable, Sendable, CustomStringConvertible {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    // Why the bytes: Swift takes texts for equal that Unicode calls equivalent.
    static func == (lhs: JSON, rhs: JSON) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.flag(let lhs), .flag(let rhs)): lhs == rhs
        case (.number(let lhs), .number(let rhs)): lhs == rhs
        case (.text(let lhs), .text(let rhs)): lhs.utf8.elementsEqual(rhs.utf8)
        case (.list(let lhs), .list(let rhs)): lhs == rhs
        case (.object(let lhs), .object(let rhs)): lhs == rhs
        case (_, _): false
        }
    }

    var description: String {
        switch self {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .list(let list): "\(list)"
        case .object(let object):
            "{" + object.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
                + "}"
        }
    }

    subscript(_ key: String) -> JSON? {
        get { if case .object(let object) = self { object[key] } else { nil } }
        set {
            guard case .object(var object) = self else { return }
            object[key] = newValue
            self = .object(object)
        }
    }

    var list: [JSON] { if case .list(let list) = self { list } else { [] } }
    var text: String { if case .text(let text) = self { text } else { "" } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
}

/// A line of a file in Protos/vectors.
struct Vector: Decodable, Sendable {
    let name: String
    let message: String
    let hex: String?
    let parts: [Part]?
    let valid: Bool
    let json: JSON?
    let canonical: Bool?
    let code: String?
    let field: String?

    struct Part: Decodable, Sendable {
        let hex: String
        let times: Int

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            self.hex = try container.decode(String.self)
            self.times = try container.decode(Int.self)
        }
    }

    var type: MessageType {
        get throws {
            let name = self.message.prefix(1).lowercased() + self.message.dropFirst()
            return try #require(MessageType.allCases.first { "\($0)" == name }, "\(self.message)")
        }
    }

    var body: [UInt8] {
        get throws {
            if let parts {
                return try parts.flatMap { part in
                    let bytes = try Self.bytes(part.hex)
                    return (0..<part.times).flatMap { _ in bytes }
                }
            }
            return try Self.bytes(#require(self.hex))
        }
    }

    static func bytes(_ hex: String) throws -> [UInt8] {
        let digits = Array(hex.utf8)
        try #require(digits.count % 2 == 0)
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            return try #require(UInt8(pair, radix: 16))
        }
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static let folder = ProtocolPageTests.package.appending(path: "Protos/vectors")

    /// The lines of a file.
    static func read<Line: Decodable>(_ file: String, as line: Line.Type = Vector.self) throws -> [Line] {
        let data = try Data(contentsOf: self.folder.appending(path: file))
        let decoder = JSONDecoder()
        return try data.split(separator: UInt8(ascii: "\n")).map { try decoder.decode(Line.self, from: $0) }
    }
}

/// The names that the page gives to codes.
enum CodeName {
    static func of(_ code: ErrorCode) -> String { self.upper("\(code)") }
    static func of(_ code: CloseCode) -> String {
        code == .internalError ? "INTERNAL" : self.upper("\(code)")
    }

    private static func upper(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1)" : $1.uppercased() }
    }
}
