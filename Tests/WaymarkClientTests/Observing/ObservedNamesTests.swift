import Foundation
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite struct ObservedNamesTests {
    private static func vehicle(
        _ name: String, _ connection: UInt64?, audience: UInt64 = 0, session: UInt32 = 0
    ) -> ObservedRecords {
        var endpoint = EndpointRecord(EndpointName(unchecked: "cluster"))
        endpoint.connection = connection.map { ConnectionID($0) }
        endpoint.audience = audience
        var record = VehicleRecord(VehicleID(unchecked: name))
        record.session = SessionID(session)
        record.endpoints = [endpoint]
        var records = ObservedRecords()
        records.vehicles = [record]
        return records
    }

    private struct World {
        var peers = ObservedPeers()
        var gateway = ObservedGateway()

        mutating func apply(_ records: ObservedRecords) {
            self.peers.apply(records, self.gateway)
            self.gateway.apply(.observedRecords(records)) { _ in nil }
        }
    }

    @Test func `every kind of event has a name, and no two have the same`() {
        let names = ObservedKind.allCases.map { GatewayEvent.Kind($0).rawValue }
        #expect(names == ObservedKind.allCases.map { "\($0)" })
        for kind in ObservedKind.allCases { #expect(GatewayEvent.Kind(kind).observedKind == kind) }
        #expect(GatewayEvent.Kind.unknown.observedKind == nil)
    }

    @Test func `every counter has a name, and no two have the same`() {
        let names = CounterName.allCases.map { GatewayCounter($0).rawValue }
        #expect(names == CounterName.allCases.map { "\($0)" })
        #expect(Set(names) == Set(GatewayCounter.allCases.map(\.rawValue)))
    }

    @Test func `counters have the names and labels of the protocol, and add up`() {
        var report = CounterReport()
        report.counters = [
            .init(.publications, label: UInt32(MessageType.startGuidance.rawValue), 2),
            .init(.publications, label: 0, 3), .init(.sessionsEnded, label: 1, 4),
            .init(.peersClosed, label: 16, 5), .init(.peersAdmitted, label: 3, 6),
            .init(.requestsEnded, label: 77, 7), .init(name: 63, label: 2, 8), .init(.sessions, 9),
            .init(.requestTimes, label: 250, 10), .init(.requestTimes, label: 0, 11),
            .init(.featuresWithheld, label: 5, 12), .init(.sessionsInPhase, label: 2, 13),
            .init(.shownDelays, label: 500, 14), .init(.shownDelays, label: 0, 15),
        ]
        let counters = GatewayCounters([report], GatewayClock(), ObservedPeers())
        #expect(
            counters.values.map { "\($0.name) \($0.label) \($0.value)" } == [
                "publications startGuidance 2", "publications unknown 3", "sessionsEnded finished 4",
                "peersClosed slowConsumer 5", "peersAdmitted observer 6", "requestsEnded 77 7", "63 2 8",
                "sessions  9", "requestTimes 250 10", "requestTimes longer 11",
                "featuresWithheld noConsent 12", "sessionsInPhase active 13",
                "shownDelays 500 14", "shownDelays longer 15",
            ])
        #expect(counters[.publications] == 5)
        #expect(counters[.sessions] == 9)
        #expect(counters[.deliveries] == 0)
    }

    @Test func `measures of connections have the names of their peers`() {
        var world = World()
        world.apply(Self.vehicle("car", 3))
        var report = CounterReport()
        report.connections = [ConnectionMeasure(ConnectionID(3)), ConnectionMeasure(ConnectionID(4))]
        report.connections[0].waitingBytes = 17
        var session = SessionMeasure(SessionID(7))
        (session.sequence, session.ageMilliseconds) = (12, 300)
        report.sessions = [session]
        let counters = GatewayCounters([CounterReport(), report], GatewayClock(), world.peers)
        #expect(counters.connections.map(\.peer) == ["car/cluster", "connection 4"])
        #expect(counters.connections.map(\.waitingBytes) == [17, 0])
        #expect(counters.sessions.map(\.sequence) == [12])
        #expect(counters.sessions[0].age == .milliseconds(300))
    }

    @Test func `an event of a newer gateway is unknown`() {
        var event = ObservedEvent(.admitted)
        event.kind = 9_999
        event.code = 3
        let told = GatewayEvent(event, peer: "")
        #expect(told.kind == .unknown)
        #expect(told.code == 3)
    }

    @Test func `the codes of events have the names of the protocol`() {
        func name(_ kind: ObservedKind, _ code: UInt32) -> String {
            var event = ObservedEvent(kind)
            event.code = code
            return GatewayEvent(event, peer: "").codeName
        }
        #expect(name(.closing, CloseCode.slowConsumer.rawValue) == "slowConsumer")
        #expect(name(.rejected, ErrorCode.duplicate.rawValue) == "duplicate")
        #expect(name(.sessionEnded, SessionEndReason.finished.rawValue) == "finished")
        #expect(name(.paused, PauseReason.rerouting.rawValue) == "rerouting")
        #expect(name(.requestEnded, Outcome.accepted.rawValue) == "accepted")
        #expect(name(.started, 7) == "")
        #expect(name(.closing, 999) == "999")
    }

    @Test func `a connection keeps its name after it ended, until many others have`() {
        var world = World()
        world.apply(Self.vehicle("car", 1))
        world.apply(Self.vehicle("car", nil))
        #expect(world.peers.name(of: ConnectionID(1)) == "car/cluster")
        for number in 2...300 {
            world.apply(Self.vehicle("car", UInt64(number)))
        }
        #expect(world.peers.name(of: ConnectionID(300)) == "car/cluster")
        #expect(world.peers.name(of: ConnectionID(299)) == "car/cluster")
        #expect(world.peers.name(of: ConnectionID(1)) == "connection 1")
    }

    @Test func `a Hello names its connection before there is a record`() {
        var peers = ObservedPeers()
        let hello = VehicleHello(
            vehicle: VehicleID(unchecked: "bus"), endpoint: EndpointName(unchecked: "hud"), features: [])
        peers.apply(Hello(role: .vehicle(hello)), on: ConnectionID(4))
        #expect(peers.name(of: ConnectionID(4)) == "bus/hud")
    }

    @Test func `members of an audience follow the records`() {
        var world = World()
        world.apply(Self.vehicle("car", 1, audience: 9))
        world.apply(Self.vehicle("bus", 2, audience: 9))
        #expect(world.peers.members(of: 9) == ["bus/cluster", "car/cluster"])
        world.apply(Self.vehicle("bus", 2, audience: 8))
        #expect(world.peers.members(of: 9) == ["car/cluster"])
        world.peers.endRecords()
        world.apply(Self.vehicle("bus", 2, audience: 8))
        world.peers.endRecords()
        var records = ObservedRecords()
        records.vehiclesGone = [VehicleID(unchecked: "car")]
        world.apply(records)
        world.peers.endRecords()
        world.apply(ObservedRecords())
        #expect(world.peers.members(of: 9) == [])
        #expect(world.peers.members(of: 8) == ["bus/cluster"])
    }

    @Test func `the last frames of a session, told after its records, still have their receivers`() {
        var world = World()
        for (number, name) in ["bus", "car"].enumerated() {
            world.apply(Self.vehicle(name, UInt64(number + 1), audience: 9, session: 7))
        }
        world.peers.endRecords()
        for (number, name) in ["bus", "car"].enumerated() {
            world.apply(Self.vehicle(name, UInt64(number + 1)))
        }
        world.peers.endRecords()
        for _ in 0..<2 {
            #expect(world.peers.members(of: 9) == ["bus/cluster", "car/cluster"])
            #expect(world.peers.vehicles(of: SessionID(7)).count == 2)
            world.peers.endRecords()
        }
        world.apply(Self.vehicle("car", 2, audience: 10, session: 8))
        #expect(world.peers.members(of: 9) == [])
        #expect(world.peers.vehicles(of: SessionID(7)).isEmpty)
        #expect(world.peers.members(of: 10) == ["car/cluster"])
    }

    @Test func `instants become dates, never in the future`() {
        var clock = GatewayClock()
        let date = Date(timeIntervalSince1970: 1_000)
        clock.set(Instant(nanoseconds: 5_000_000_000), arrived: date)
        #expect(clock.date(of: Instant(nanoseconds: 3_500_000_000)) == date.addingTimeInterval(-1.5))
        clock.correct(Instant(nanoseconds: 6_000_000_000), arrived: date.addingTimeInterval(2))
        #expect(clock.date(of: Instant(nanoseconds: 6_000_000_000)) == date.addingTimeInterval(1))
        // This computer's clock was set back.
        clock.correct(Instant(nanoseconds: 7_000_000_000), arrived: date.addingTimeInterval(-60))
        #expect(clock.date(of: Instant(nanoseconds: 7_000_000_000)) == date.addingTimeInterval(-60))
    }
}

@Suite struct CounterCallsTests {
    private static var last: CounterReport {
        var report = CounterReport()
        report.isLast = true
        return report
    }

    private static func question(measures: Bool = false) -> ReadCounters {
        var question = ReadCounters()
        (question.wantsConnections, question.wantsSessions) = (measures, measures)
        return question
    }

    @Test func `one question is under way, and later calls wait for the next`() {
        var calls = CounterCalls()
        calls.add(1, Self.question())
        var questions = [calls.dequeue()]
        calls.add(2, Self.question())
        calls.add(3, Self.question(measures: true))
        questions.append(calls.dequeue())
        let first = calls.apply(Self.last)
        questions.append(calls.dequeue())
        let second = calls.apply(Self.last)
        questions.append(calls.dequeue())
        #expect(questions == [Self.question(), nil, Self.question(measures: true), nil])
        #expect(first?.calls == [1])
        #expect(second?.calls == [2, 3])
    }

    @Test func `a lost answer is asked for again`() {
        var calls = CounterCalls()
        calls.add(1, Self.question())
        var questions = [calls.dequeue()]
        calls.add(2, Self.question())
        calls.connect()
        questions.append(calls.dequeue())
        let answer = calls.apply(Self.last)
        #expect(questions == [Self.question(), Self.question()])
        #expect(answer?.calls == [1, 2])
    }

    @Test func `an answer in parts is one answer, also if the connection was lost in between`() {
        var calls = CounterCalls()
        calls.add(1, Self.question(measures: true))
        _ = calls.dequeue()
        let part = calls.apply(CounterReport())
        calls.connect()
        _ = calls.dequeue()
        var parts = [calls.apply(CounterReport()), calls.apply(Self.last)]
        #expect(part == nil)
        #expect(parts.removeFirst() == nil)
        #expect(parts.first??.calls == [1])
        #expect(parts.first??.parts.count == 2)
    }

    @Test func `an answer that begins again has nothing of its first beginning`() {
        var calls = CounterCalls()
        calls.add(1, Self.question(measures: true))
        _ = calls.dequeue()
        var first = CounterReport()
        first.counters = [.init(.requests, 7)]
        var parts = [calls.apply(first), calls.apply(CounterReport())]
        parts += [calls.apply(first), calls.apply(CounterReport()), calls.apply(Self.last)]
        #expect(parts.last??.parts == [first, CounterReport(), Self.last])
    }

    @Test func `an answer that was not asked for is ignored`() {
        var calls = CounterCalls()
        let answer = calls.apply(Self.last)
        #expect(answer == nil)
    }

    @Test func `a call that was cancelled gets no answer`() {
        var calls = CounterCalls()
        calls.add(1, Self.question())
        calls.add(2, Self.question())
        calls.remove(2)
        calls.remove(1)
        let question = calls.dequeue()
        let answer = calls.apply(Self.last)
        #expect(question == Self.question())
        #expect(answer?.calls == [])
    }
}
