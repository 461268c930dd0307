import Foundation
import Testing
import WaymarkProtocol

@testable import WaymarkCodec

/// The comments in Protos say what ``FieldRules`` enforce: a stranger has nothing else.
@Suite struct ProtoCommentTests {
    /// Messages that only the gateway sends: peers need not know what is enforced there.
    static let fromGateway: Set<String> = [
        "Welcome", "FeatureGrant", "ResumedSession", "Error", "VehicleStatus", "EndpointStatus",
        "SessionOpened", "VehicleChanged", "SessionEnded", "SnapshotBegin", "ReceiptReport",
        "EndpointReceipt",
        "Prompt", "PromptOver", "RequestOutcome", "DestinationShareStatus",
    ]

    /// The comment above each field, by message and field. Fields without one share that of the field before.
    static func comments() throws -> [String: [String: String]] {
        var comments: [String: [String: String]] = [:]
        for file in ["connection", "model", "session", "vehicle"] {
            var (message, comment, isOver) = ("", "", true)
            for line in try ProtocolPageTests.text("Protos/waymark/v1/\(file).proto").split(separator: "\n") {
                if let match = line.firstMatch(of: /^ *\/\/(.*)/) {
                    comment = isOver ? String(match.1) : comment + match.1
                    isOver = false
                } else if let match = line.firstMatch(of: /^message (\w+) \{/) {
                    (message, comment, isOver) = (String(match.1), "", true)
                } else if let match = line.firstMatch(of: /(\w+) = \d+[^;]*;/) {
                    comments[message, default: [:]][String(match.1)] = comment
                    isOver = true
                } else {
                    (message, comment, isOver) = ("", "", true)
                }
            }
        }
        return comments
    }

    @Test func `what must be there, and every range, is said where the field is`() throws {
        let comments = try Self.comments()
        for (message, rules) in FieldRules.all where !Self.fromGateway.contains(message) {
            for (name, rule) in rules {
                let comment = try #require(comments[message]?[name], "\(message).\(name)")
                for ways in Self.wanted(by: rule) {
                    #expect(ways.contains { comment.contains($0) }, "\(message).\(name): one of \(ways)")
                }
            }
        }
    }

    /// For each thing that a comment must say, the ways to say it.
    static func wanted(by rule: FieldRule) -> [[String]] {
        // A reference says what it refers to; what the gateway sets, peers leave out.
        let elsewhere = [
            "As in ", "as in ", "ne of `", "ne of those", "ne that was added", "Set by the gateway",
        ]
        var wanted: [[String]] = []
        if rule.isRequired {
            wanted.append(
                elsewhere + [
                    "ust be there", "ust have been added", "that is shown", "ot empty", "ot zero",
                    "least one",
                    "at least 1", "1 ... ", "1 or 2", "Never UNSPECIFIED",
                ])
        }
        let isPlain = [Int64.max, Int64(UInt32.max), Int64(Int32.max)].contains(rule.bounds.upperBound)
        // Angles have one rule for all, at the top of model.proto.
        if !isPlain, rule.bounds != FieldRule.angle.bounds {
            wanted.append(elsewhere + [ProtocolPageTests.grouped("\(rule.bounds.upperBound)")])
        }
        if rule.countMax > 1 { wanted.append(["as many", ProtocolPageTests.grouped("\(rule.countMax)")]) }
        return wanted
    }
}
