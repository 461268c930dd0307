import Testing
import WaymarkModel

@Suite struct PlainStateTests {
    @Test func `a newer state replaces the values of the older one`() {
        var states = PlainStates()
        #expect(states.currentRoadName.isEmpty)
        states.apply(.currentRoadName(["Landstrasse", "L191"]))
        #expect(states == PlainStates(.currentRoadName(["Landstrasse", "L191"])))
        states.apply(.currentRoadName([]))
        #expect(states == PlainStates())
    }
}
