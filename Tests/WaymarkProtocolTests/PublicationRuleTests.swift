import Testing
import WaymarkModel
import WaymarkProtocol

@Suite struct PublicationRuleTests {
    @Test func `every type of the published range has its rule at its number`() {
        let published = MessageType.allCases.filter { MessageType.published.contains($0.rawValue) }
        // An extension has two, and no place in the table.
        #expect(PublicationRule.table.map(\.type) + [.publishExtension] == published)
        for type in published { #expect(PublicationRule.rule(for: type.rawValue).type == type) }
    }

    @Test func `a type that this build does not know is an event or a state, and needs nothing`() {
        let next = 0x0100 + UInt16(PublicationRule.table.count)
        for rawType in [next, 0x01FE, 0x01FF] {
            let rule = PublicationRule.rule(for: rawType)
            #expect(rule.type == nil)
            #expect(rule.kind == .event && rule.phases == .any && rule.generation == .none)
            #expect(rule.feature == nil && rule.fittedBy.isEmpty && rule.retention == .nothing)
            let header = FrameHeader(type: rawType, flags: [.skippable, .state])
            let state = PublicationOutline(unrecognized: header).rule
            #expect(state.type == nil && state.kind == .stateByKey && state.phases == .any)
            #expect(state.feature == nil && state.fittedBy.isEmpty && state.generation == .none)
        }
    }

    @Test func `of every state the newest is retained, and no state makes anything void`() {
        for rule in PublicationRule.table where rule.kind != .event {
            #expect(rule.retention == .newest && rule.voids.isEmpty && rule.adds == nil, "\(rule)")
        }
    }

    @Test func `what belongs to a route carries its generation and is void with it`() {
        for rule in PublicationRule.table where rule.refersTo != nil || rule.retention == .all {
            #expect(rule.generation == .current && rule.isOfRoute, "\(rule)")
        }
    }

    @Test func `a plain state is published while guided, and nothing depends on it`() {
        let name = Publication.currentRoadName(["Landstrasse", "L191"])
        #expect(name == .plain(.currentRoadName(["Landstrasse", "L191"])))
        #expect(name.outline == PublicationOutline(.currentRoadName))
        #expect(name.rule.kind == .state && name.rule.phases == .guided && name.rule.generation == .none)
        #expect(name.rule.refersTo == nil && !name.rule.isOfRoute)
    }

    @Test func `states of one type share a key, those per maneuver have one for each`() {
        let name = PublicationOutline(.currentRoadName)
        #expect(name.conflationKey == ConflationKey(type: .currentRoadName))
        let estimates = PublicationOutline(
            .updateManeuverEstimates, generation: 1, .maneuver(ManeuverID(rawValue: 7)))
        #expect(estimates.conflationKey == ConflationKey(type: .updateManeuverEstimates, item: 7))
        #expect(PublicationOutline(.pauseGuidance, .pause(.loading)).conflationKey == nil)
        let event = FrameHeader(type: 0x01E5, flags: .skippable, key: 7)
        #expect(PublicationOutline(unrecognized: event).conflationKey == nil)
    }

    @Test func `an extension is an event or a state, as its header says`() throws {
        let name = try #require(ExtensionName("org.example.tyres"))
        func outline(_ flags: FrameHeader.Flags) -> PublicationOutline {
            let header = FrameHeader(type: MessageType.publishExtension.rawValue, flags: flags, key: 7)
            return PublicationOutline(.publishExtension, .extension(.init(name: name, of: header)))
        }
        #expect(outline([]).conflationKey == nil && outline([]).rule.kind == .event)
        #expect(outline(.state).conflationKey == ConflationKey(type: .publishExtension, item: 7))
        #expect(outline(.state).rule.kind == .stateByKey && !outline(.state).isRetainedByHeader)
        #expect(outline([.state, .retained]).isRetainedByHeader)
        #expect(!outline(.retained).isRetainedByHeader)
        for flags: FrameHeader.Flags in [[], .state, [.state, .retained]] {
            #expect(outline(flags).type == .publishExtension && outline(flags).extensionName == name)
        }
    }

    @Test func `names of extensions are reverse DNS`() {
        for name in ["a.b", "org.example.tyres", "a-9.-", String(repeating: "a", count: 126) + ".b"] {
            #expect(ExtensionName(name)?.rawValue == name)
        }
        for name in [
            "", "ab", "tyres", "org.Example", "org.a_b", "org.a b", "org.é",
            String(repeating: ".", count: 129),
        ] {
            #expect(ExtensionName(name) == nil, "\(name)")
        }
    }

    @Test func `base64 is that of RFC 4648`() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"]
        let coded = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        #expect(texts.map { Array($0.utf8).base64 } == coded)
        #expect(([0xFB, 0xFF, 0xBF] as [UInt8]).base64 == "+/+/")
    }

    @Test func `a state of a type that this build does not know has a key for each type and key`() {
        func key(_ type: UInt16, _ key: UInt16, _ flags: FrameHeader.Flags) -> ConflationKey? {
            PublicationOutline(unrecognized: FrameHeader(type: type, flags: flags, key: key)).conflationKey
        }
        let state: FrameHeader.Flags = [.skippable, .state]
        #expect(key(0x01E5, 7, state) == ConflationKey(rawType: 0x01E5, item: 7))
        #expect(key(0x01E5, 7, [.skippable, .state, .retained]) == key(0x01E5, 7, state))
        let keys = [0x01E5, 0x01FF].flatMap { type in
            [0, 7, UInt16.max].map { key(type, $0, state) }
        }
        #expect(Set(keys).count == keys.count)
    }
}
