internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol
package import WaymarkRoutes
internal import WaymarkScenario
internal import WaymarkTexts

/// A first scenario for a route: what a drive along it shows, as expectations.
package struct FirstScenario {
    /// Scenario files name the route so.
    private let route: String
    private var expectations: [String] = []
    private var ending = "finished"
    /// The most publications that reached the vehicle in a second, and at least what is usual.
    private var rateMax = 10

    /// Why there is none.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Drives along a route, and writes what it shows: the first turn, of those with lanes if there is one, the first stop, and
    /// the end.
    ///
    /// - Parameters:
    ///   - answer: An engine's answer. Its first route is driven.
    ///   - route: How the scenario names it.
    /// - Returns: A scenario file.
    /// - Throws: ``Failure``.
    package static func text(_ answer: RouteAnswer, named route: String) throws(Failure) -> String {
        let file = "first.scenario.yaml"
        let place = SourceLocation(file: file, line: 1, column: 1)
        var scenario = Scenario(file: file)
        scenario.route = Scenario.Reference(route, at: place)
        scenario.atMost = .seconds(86_400)
        var inputs = ScenarioInputs()
        inputs.routes[route] = answer
        let (result, history) = ScenarioRun.run(scenario, inputs)
        if let problem = result.problem { throw Failure(description: problem) }
        guard let record = history.endpoints.first else {
            throw Failure(description: "\(route) was not driven")
        }
        var first = FirstScenario(route: route)
        first.observe(record)
        first.observe(history)
        return first.text
    }

    private init(route: String) { self.route = route }

    private mutating func observe(_ record: EndpointHistory) {
        let moments = record.moments.filter(\.isComplete)
        let turns = moments.lazy.compactMap { Self.turn($0.state) }
        if let (maneuver, lanes) = turns.first(where: { !$0.1.isEmpty }) ?? turns.first {
            let highlighted = lanes.isEmpty ? "" : ", lanes.highlighted: [\(lanes)]"
            self.expectations.append(
                """
                  # \(Self.comment(maneuver.instructionVariants.first ?? maneuver.type.name))
                  - when: { state: { next.id: \(maneuver.id.rawValue), maneuverState: prepare } }
                    eventually: { next.type: \(maneuver.type.name)\(highlighted) }
                    within: 2s

                """)
        }
        if let stop = moments.lazy.compactMap({ Self.stop($0.state) }).first {
            self.expectations.append(
                """
                  # The stop \(Self.comment(stop)).
                  - when: { state: { pauseReason: arrived }, count: 1 }
                    eventually: { phase: active }
                    within: 1h

                """)
        }
        if case .ended(let reason)? = record.moments.last?.state.phase { self.ending = reason.word }
    }

    /// Counts the publications in each second that ends with one.
    private mutating func observe(_ history: History) {
        var instants: [Instant] = []
        for entry in history.entries {
            guard case .frame(let crossed) = entry.kind, crossed.way == .toPeer,
                crossed.peer.vehicle != nil,
                MessageType.published.contains(crossed.frame.header.rawType)
            else { continue }
            instants.append(entry.instant)
        }
        var first = instants.startIndex
        for (index, instant) in instants.enumerated() {
            while instant - instants[first] >= .seconds(1) { first += 1 }
            self.rateMax = max(self.rateMax, index - first + 1)
        }
    }

    /// The next maneuver if it is being prepared, and the lanes that are highlighted before it, if there are any.
    private static func turn(_ state: VehicleState) -> (Maneuver, String)? {
        guard state.phase == .active, state.maneuverState == .prepare, let next = state.nextManeuver else {
            return nil
        }
        let guidance = state.laneGuidances.first { $0.id == state.currentLaneGuidance }
        let lanes = (guidance?.lanes ?? []).enumerated().filter { $0.element.highlightedAngle != nil }
        return (next, lanes.map { "\($0.offset + 1)" }.joined(separator: ", "))
    }

    /// The stop at which the drive pauses.
    private static func stop(_ state: VehicleState) -> String? {
        guard case .paused(.arrived, _) = state.phase, let stop = state.trip?.waypoints.first else {
            return nil
        }
        return Story.name(stop)
    }

    private var text: String {
        """
        # The keys are described in the JSON Schema: waymark test --schema
        about: The vehicle shows what a drive along this route says, and nothing faster than it can use.
        route: \(Self.quoted(self.route))
        vehicle: { endpoint: cluster, profile: full }

        expect:
        \(self.expectations.joined())  # No more updates than a cluster can use.
          - rate: { at-most: \(self.rateMax), per: 1s }
        ended: \(self.ending)

        """
    }

    /// Text of others in a comment: on one line.
    private static func comment(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    private static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.allSatisfy {
            $0.isASCII
                && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
                    || "-_./".unicodeScalars.contains($0))
        }
        guard !plain || text.first?.isLetter != true else { return text }
        return "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }
}
