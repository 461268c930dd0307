import RecordedRoutes
import Synchronization
import WaymarkConfiguration
package import WaymarkHistory
import WaymarkProtocol
package import WaymarkRig
import WaymarkRoutes
package import WaymarkScenario

/// A scene that can be run once, by either clock: as a scenario with code in its steps.
package struct FaultPlay: Sendable {
    package let scenario: Scenario
    package let inputs: ScenarioInputs
    package let mutations: RunMutations
    package let code: [Int: StepCode]
    private let memory: SharedMemory

    private final class SharedMemory: Sendable {
        let value = Mutex(FaultScene.Memory())
    }

    init(_ acts: [FaultScene.Act], _ name: String) throws {
        let nowhere = SourceLocation(file: name, line: 0, column: 0)
        let detour = Scenario.Reference("vaduz-balzers-charging", at: nowhere)
        var vehicle = Scenario.Vehicle(id: VehicleID(unchecked: "dut"))
        vehicle.connects = false
        var client = Scenario.Client(id: ClientID(unchecked: "app"))
        (client.connects, client.drivesAtOnce) = (false, false)
        (client.detour, client.answerAfter, client.receipts) = (detour, .milliseconds(100), .seconds(1))
        var scenario = Scenario(file: name, vehicles: [vehicle], clients: [client])
        scenario.steps = acts.map { act in
            var step = Scenario.Step(at: nowhere)
            step.waiting = .time(act.after)
            return step
        }
        var inputs = ScenarioInputs()
        inputs.routes[detour.text] = try RouteAnswer.shipped(detour.text)
        var mutations = RunMutations()
        mutations.vehicleFrames = Self.withdrawing
        let memory = SharedMemory()
        let code = acts.map { act -> StepCode in
            { run in try memory.value.withLock { try act.body(&run, &$0) } }
        }
        (self.scenario, self.inputs, self.mutations, self.memory) = (scenario, inputs, mutations, memory)
        self.code = Dictionary(uniqueKeysWithValues: code.enumerated().map { ($0, $1) })
    }

    /// The vehicle also withdraws what it never asked for, which the gateway rejects.
    private static let withdrawing = FrameMutation(sending: { sent, _ in
        guard case .withdrawRequest = sent.message else { return [sent] }
        let other = WithdrawRequest(requestID: "never-sent")
        return [sent, Envelope(.withdrawRequest(other), session: sent.session)]
    })

    // MARK: Running

    /// Runs it in virtual time.
    package func run() -> FaultOutcome {
        let (result, history) = ScenarioRun.run(
            self.scenario, self.inputs, mutations: self.mutations, code: self.code)
        return self.outcome(result, history)
    }

    /// What came of it, after its run.
    package func outcome(_ result: ScenarioResult, _ history: History) -> FaultOutcome {
        let peers = self.memory.value.withLock { $0.peers }
        return FaultOutcome(
            result: result, history: history, vehicle: peers?.vehicle, client: peers?.client)
    }
}

/// What came of a scene.
package struct FaultOutcome: Sendable {
    package let result: ScenarioResult
    package let history: History
    /// As they were at the end; nil if the scene did not get there.
    package let vehicle: RigVehicle?
    package let client: RigClient?
}
