import Foundation
import Testing
import WaymarkProtocol

@testable import WaymarkScenario

/// The fields in scenario.schema.json, which scripts/generate/scenario_fields.py makes, are those of the reader.
@Suite struct SchemaFieldTests {
    private struct Schema: Decodable {
        let definitions: [String: Definition]

        enum CodingKeys: String, CodingKey { case definitions = "$defs" }
    }

    private struct Definition: Decodable {
        let properties: [String: Value]?
        let patternProperties: [String: Value]?
        let anyOf: [Value]?
        let allOf: [Case]?
    }

    /// A part of the schema: which definition it is, or which names.
    private struct Value: Decodable {
        let definition: String?
        let constant: String?
        let names: [String]?
        let anyOf: [Value]?

        enum CodingKeys: String, CodingKey {
            case definition = "$ref"
            case constant = "const"
            case names = "enum"
            case anyOf
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.definition = try container.decodeIfPresent(String.self, forKey: .definition)
            // Other constants and names are no texts.
            self.constant = try? container.decode(String.self, forKey: .constant)
            self.names = try? container.decode([String].self, forKey: .names)
            self.anyOf = try container.decodeIfPresent([Value].self, forKey: .anyOf)
        }
    }

    /// A condition of the schema, and what it implies.
    private struct Case: Decodable {
        let condition: Clause?
        let consequence: Clause?

        enum CodingKeys: String, CodingKey {
            case condition = "if"
            case consequence = "then"
        }
    }

    private struct Clause: Decodable { let properties: [String: Value]? }

    private let definitions: [String: Definition]

    init() throws {
        let url = ScenarioTests.shipped.appending(path: "scenario.schema.json")
        self.definitions = try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url)).definitions
    }

    @Test func `the schema has the fields of the state`() throws {
        // next and lanes have conditions only for their keys.
        let fields = StateFields.keys.flatMap { Self.fields($0.name, $0.type) }
        try self.check("state", fields.filter { !["next", "lanes"].contains($0.path) })
    }

    @Test(arguments: MessageType.allCases.map(\.self) + [nil])
    func `the schema has the fields of a message`(_ type: MessageType?) throws {
        let cases = try #require(self.definitions["where-of-message"]?.allOf)
        let name = type.map { "\($0)" }
        let found = cases.filter { each in
            let message = each.condition?.properties?["message"]
            let names = message?.anyOf?.compactMap(\.names).first ?? []
            return name.map { message?.constant == $0 || names.contains($0) } ?? !names.isEmpty
        }
        #expect(found.count == 1)
        let definition = try #require(found.first?.consequence?.properties?["where"]?.definition)
        try self.check(
            Self.name(definition), MessageFields.keys(of: type).flatMap { Self.fields($0.name, $0.type) })
    }

    /// A field and what it contains, with the paths to the first elements of lists.
    private static func fields(_ path: String, _ type: FieldType) -> [(path: String, type: FieldType)] {
        let inner: [(path: String, type: FieldType)]
        switch type {
        case .object(let object):
            inner = object.keys.enumerated().flatMap { Self.fields("\(path).\($1)", object.type(at: $0)) }
        case .list(let element): inner = Self.fields("\(path)[0]", element)
        case .text, .number, .flag, .word: inner = []
        }
        return [(path, type)] + inner
    }

    private static func name(_ definition: String) -> String {
        String(definition.dropFirst("#/$defs/".count))
    }

    /// Each field is in the definition once, as what it is; the definition has no other keys.
    private func check(_ name: String, _ fields: [(path: String, type: FieldType)]) throws {
        let definition = try #require(self.definitions[name])
        let patterns = try #require(definition.patternProperties).map { pattern, value in
            (try NSRegularExpression(pattern: pattern), Self.name(value.definition ?? ""))
        }
        func found(_ path: String) -> [String] {
            let whole = NSRange(location: 0, length: path.utf16.count)
            return patterns.filter { $0.0.firstMatch(in: path, range: whole) != nil }.map(\.1)
        }
        for field in fields {
            let kinds = found(field.path)
            #expect(kinds.count == 1, "\(name) \(field.path): \(kinds)")
            #expect(
                kinds.allSatisfy { self.isDefinition($0, of: field.type) }, "\(name) \(field.path): \(kinds)")
            #expect(found(field.path + "x").isEmpty)
        }
        let properties = try #require(definition.properties)
        #expect(Set(properties.keys).isSubset(of: fields.map(\.path)))
        for (path, value) in properties { #expect(found(path) == [Self.name(value.definition ?? "")]) }
    }

    private func isDefinition(_ name: String, of type: FieldType) -> Bool {
        switch type {
        case .text: name == "a-text"
        case .flag: name == "a-flag"
        case .number(let unit): name == Self.name(of: unit)
        case .word(let vocabulary):
            self.definitions[name]?.anyOf?.first?.names.map(Set.init) == Set(vocabulary.names)
        case .list(.text): name == "list-of-texts"
        case .list(.number(let unit)): name == "list-of-\(Self.name(of: unit))"
        case .list: name == "a-list"
        case .object: name == "an-object"
        }
    }

    private static func name(of unit: FieldUnit) -> String {
        switch unit {
        case .none: "number"
        case .meters: "metres"
        case .seconds: "seconds"
        case .milliseconds: "milliseconds"
        case .degrees: "degrees"
        }
    }
}
