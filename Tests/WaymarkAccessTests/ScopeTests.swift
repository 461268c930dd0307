import Testing

@testable import WaymarkAccess

/// Which vehicles a grant allows, whatever the rules that say so.
@Suite struct ScopeTests {
    private static func scope(_ rules: (Bool, String?)..., key: String? = nil) throws -> AccessScope {
        let rules = try rules.map { isAllowed, vehicles in
            var rule = AccessRule(allow: isAllowed, [.observer], origin: AccessOrigin(file: "f", line: 1))
            rule.vehicles = try vehicles.map { try Self.list($0) }
            return rule
        }
        var limits = KeyLimits(origin: AccessOrigin(file: "f", line: 9))
        limits.vehicles = try key.map { try Self.list($0) }
        let policy = AccessPolicy(rules: rules, keys: key == nil ? [:] : ["k": limits])
        let subject = AccessSubject(user: 1, groups: [], key: key == nil ? nil : "k")
        return policy.scope(of: policy.grant(of: subject, as: .observer))
    }

    private static func list(_ text: String) throws -> GlobList {
        GlobList(try text.split(separator: " ").map { try #require(Glob(String($0))) })
    }

    @Test func `rules that say the same in other words have the same scope`() throws {
        let cars = try Self.scope((true, "car-1 car-2"))
        #expect(try Self.scope((true, "car-2"), (true, "car-1")) == cars)
        #expect(try Self.scope((true, "car-1 car-2"), (false, nil)) == cars)
        #expect(try Self.scope((true, "car-1 car-2"), (false, "bus")) == cars)
        let all = try Self.scope((true, nil))
        #expect(all.isAll)
        #expect(try Self.scope((true, "car-1"), (true, nil)) == all)
        #expect(try Self.scope((true, "*"), (false, nil)) == all)
        #expect(AccessPolicy().scope(of: .open) == all)
    }

    @Test func `rules that allow other vehicles have other scopes`() throws {
        let scopes = [
            try Self.scope((true, nil)), try Self.scope((true, "car-1")), try Self.scope((true, "car-2")),
            try Self.scope((false, "car-1"), (true, nil)), try Self.scope((false, "car-1"), (true, "car-*")),
            try Self.scope((true, "car-1"), (false, "car-*"), (true, nil)), try Self.scope((false, nil)),
            try Self.scope((true, nil), key: "car-*"),
        ]
        #expect(Set(scopes).count == scopes.count)
        #expect(scopes.filter(\.isAll).count == 1)
    }
}
