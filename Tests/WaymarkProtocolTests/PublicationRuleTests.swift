import Testing
import WaymarkModel
import WaymarkProtocol

@Suite struct PublicationRuleTests {
    @Test func `every type of the published range has its rule at its number`() {
        let published = MessageType.allCases.filter { MessageType.published.contains($0.rawValue) }
        #expect(PublicationRule.table.map(\.type) == published)
        for type in published { #expect(PublicationRule.rule(for: type.rawValue).type == type) }
    }

    @Test func `a type that this build does not know is an event that needs nothing`() {
        let next = 0x0100 + UInt16(PublicationRule.table.count)
        for rawType in [next, 0x01FE, 0x01FF] {
            let rule = PublicationRule.rule(for: rawType)
            #expect(rule.type == nil)
            #expect(rule.kind == .event && rule.phases == .any && rule.generation == .none)
            #expect(rule.feature == nil && rule.fittedBy.isEmpty && rule.retention == .nothing)
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

    @Test func `states of one type share a key, those per maneuver have one for each`() {
        let name = PublicationOutline(.currentRoadName)
        #expect(name.conflationKey == ConflationKey(type: .currentRoadName))
        let estimates = PublicationOutline(
            .updateManeuverEstimates, generation: 1, .maneuver(ManeuverID(rawValue: 7)))
        #expect(estimates.conflationKey == ConflationKey(type: .updateManeuverEstimates, item: 7))
        #expect(PublicationOutline(.pauseGuidance, .pause(.loading)).conflationKey == nil)
        #expect(PublicationOutline.unrecognized.conflationKey == nil)
    }
}
