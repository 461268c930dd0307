import Testing
import WaymarkClient
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario

/// Code in the steps of a scenario.
@Suite struct StepCodeTests {
    private struct Broken: Error, CustomStringConvertible {
        let description = "nothing goes"
    }

    /// A vehicle and a client that connects when the second step tells it to.
    private static func scenario() throws -> Scenario {
        try ScenarioReader.read(
            """
            vehicle: {}
            client: { connects: false, drives: when-told }
            steps:
              - after: 1s
              - after: 2s
              - after: 1s

            """, file: "test.scenario.yaml")
    }

    private static let client = PeerID.client(ClientID(unchecked: "client"))

    @Test func `code acts on the run at the instant of its step`() throws {
        let code: [Int: StepCode] = [
            1: { run in run.tell(Self.client, .open) },
            2: { run in
                guard case .connected? = run.peer(Self.client, as: RigClient.self)?.connection else {
                    throw Broken()
                }
            },
        ]
        let (result, history) = ScenarioRun.run(try Self.scenario(), ScenarioInputs(), code: code)
        #expect(result.problem == nil)
        let connecting = history.entries.filter {
            if case .connection(Self.client, .connecting) = $0.kind { true } else { false }
        }
        #expect(connecting.map(\.instant) == [Duration.seconds(3).instant])
    }

    @Test func `an error of code ends the run, and is its problem`() throws {
        let (result, _) = ScenarioRun.run(
            try Self.scenario(), ScenarioInputs(), code: [1: { _ in throw Broken() }])
        #expect(result.problem == "step 2: nothing goes")
        #expect(result.end == Duration.seconds(3).instant)
    }
}
