import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// How long publications take to a display, measured with endpoints whose delays and clocks are known.
@Suite struct DelayTests {
    /// A link, a display and a clock.
    struct Endpoint: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// From the gateway to the endpoint, and back.
        var out = Duration.zero
        var back = Duration.zero
        /// From receiving to showing.
        var display = Duration.milliseconds(20)
        /// What its clock shows at the gateway's instant 0, in nanoseconds.
        var clock: UInt64 = 0
        /// How much faster than the gateway's its clock runs, in nanoseconds for each million.
        var driftPerMillion: Int64 = 0

        func stamp(at instant: Instant) -> UInt64 {
            let nanoseconds = instant.nanoseconds
            return self.clock &+ UInt64(nanoseconds + nanoseconds / 1_000_000 * self.driftPerMillion)
        }
    }

    /// What crosses, or happens at the endpoint.
    private enum Event: Sendable {
        case publish
        case received(UInt64)
        case shown(UInt64)
        case receiptDue
        case receipt(Receipt)
        case ping(UInt64)
        case pong(UInt64, PongTimes)
    }

    /// A drive with a publication and a receipt in every second.
    private struct Drive {
        var world = World()
        let endpoint: Endpoint
        let car = ConnectionID(1)
        let client = ConnectionID(2)
        private var session = SessionID.none
        private var events: [(instant: Instant, event: Event)] = []
        private var received: (sequence: UInt64, stamp: UInt64)?
        private var shown: (sequence: UInt64, stamp: UInt64)?
        /// Round trips of later Pings take so much longer each way.
        var jitter: [Duration] = []
        private(set) var pingCount = 0

        init(_ endpoint: Endpoint) throws {
            self.endpoint = endpoint
            self.world.arrive(1, World.endpoint("car"))
            self.world.arrive(2, World.client("app"))
            let opening = OpenSession(
                requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]),
                receiptsEveryMilliseconds: 1_000)
            self.world.receive(.openSession(opening), from: self.client)
            self.session = try #require(self.world.opened(self.client, "r"))
            self.world.publish(
                self.client, self.session, .startGuidance(World.trip, generation: 1, World.route))
            self.world.mail = [:]
        }

        private mutating func plan(_ event: Event, in duration: Duration) {
            self.events.append((self.world.now + duration, event))
        }

        mutating func run(seconds: Int) {
            for second in 1...seconds {
                self.plan(.publish, in: .seconds(second))
                self.plan(.receiptDue, in: .seconds(second) + .milliseconds(700))
            }
            while let next = self.events.indices.min(by: {
                (self.events[$0].instant, $0) < (self.events[$1].instant, $1)
            }) {
                let (instant, event) = self.events.remove(at: next)
                // Deadlines of the gateway are those of reports.
                while let armed = self.world.gateway.armed, armed < instant {
                    self.world.now = armed
                    self.world.handle(.deadlineReached)
                }
                self.world.now = instant
                self.perform(event)
                self.readMail()
            }
        }

        private mutating func perform(_ event: Event) {
            let stamp = self.endpoint.stamp(at: self.world.now)
            switch event {
            case .publish:
                self.world.publish(self.client, self.session, .currentRoadName(["\(stamp)"]))
            case .received(let sequence):
                self.received = (sequence, stamp)
                self.plan(.shown(sequence), in: self.endpoint.display)
            case .shown(let sequence): self.shown = (sequence, stamp)
            case .receiptDue:
                guard let received else { return }
                let receipt = Receipt(
                    receivedSequence: received.sequence, shownSequence: self.shown?.sequence ?? 0,
                    receivedNanoseconds: received.stamp, shownNanoseconds: self.shown?.stamp)
                self.plan(.receipt(receipt), in: self.endpoint.back)
            case .receipt(let receipt): self.world.receive(.receipt(receipt), from: self.car, self.session)
            case .ping(let nonce):
                self.pingCount += 1
                let times = PongTimes(receivedNanoseconds: stamp, sentNanoseconds: stamp)
                let late = self.jitter.isEmpty ? .zero : self.jitter.removeFirst()
                self.plan(.pong(nonce, times), in: self.endpoint.back + late)
            case .pong(let nonce, let times): self.world.receive(.pong(nonce: nonce, times), from: self.car)
            }
        }

        private mutating func readMail() {
            for envelope in self.world.mail[self.car] ?? [] {
                switch envelope.message {
                case .ping(let nonce, .some): self.plan(.ping(nonce), in: self.endpoint.out)
                case .publication: self.plan(.received(envelope.sequence), in: self.endpoint.out)
                default: break
                }
            }
            self.world.mail[self.car] = []
        }

        /// The delays that the client was told.
        var told: (received: [Duration], shown: [Duration]) {
            let receipts = self.world.messages(self.client).flatMap { message -> [EndpointReceipt] in
                if case .receiptReport(let report) = message { report.endpoints } else { [] }
            }
            return (
                receipts.compactMap { $0.receivedDelayMicroseconds.map { .microseconds($0) } },
                receipts.compactMap { $0.shownDelayMicroseconds.map { .microseconds($0) } }
            )
        }

        var delays: EndpointDelays? {
            mutating get { self.world.gateway.record(of: VehicleID(unchecked: "car"))?.endpoints[0].delays }
        }
    }

    private static func isNear(_ delays: [Duration], _ expected: Duration) -> Bool {
        delays.allSatisfy { abs(($0 - expected).nanoseconds) <= 1_000_000 }
    }

    private static let hours: UInt64 = 7 * 3_600_000_000_000

    static let endpoints: [Endpoint] = [0, 50, 500].flatMap { milliseconds -> [Endpoint] in
        [(UInt64(0), Int64(0)), (Self.hours, 0), (0 &- Self.hours, 0), (Self.hours, 100), (0, -100)].map {
            let way = Duration.milliseconds(milliseconds)
            return Endpoint(
                testDescription:
                    "\(milliseconds) ms, clock ahead by \(Int64(bitPattern: $0.0)), drift \($0.1)",
                out: way, back: way, clock: $0.0, driftPerMillion: $0.1)
        }
    }

    @Test(arguments: Self.endpoints)
    func `delays are measured to a millisecond, whatever the endpoint's clock shows`(
        _ endpoint: Endpoint
    ) throws {
        var drive = try Drive(endpoint)
        drive.run(seconds: 60)
        let told = drive.told
        // Each second time the clocks are compared first, and the report goes out before that.
        #expect(told.received.count >= 25 && told.shown.count >= 25)
        #expect(Self.isNear(told.received, endpoint.out))
        #expect(Self.isNear(told.shown, endpoint.out + endpoint.display))
        let measured = drive.delays
        let delays = try #require(measured)
        #expect((50...60).contains(delays.received.count) && (50...60).contains(delays.shown.count))
        #expect(drive.world.gateway.counters.receivedDelays == delays.received)
        #expect(drive.world.gateway.counters.shownDelays == delays.shown)
        let roundTrip = Duration.microseconds(delays.roundTripMicroseconds)
        #expect(Self.isNear([roundTrip], endpoint.out + endpoint.back))
        // A comparison is used for two seconds.
        #expect((15...31).contains(drive.pingCount))
    }

    @Test func `half of what a link's directions differ by remains as an error`() throws {
        var drive = try Drive(
            Endpoint(testDescription: "asymmetric", out: .milliseconds(100), back: .milliseconds(20)))
        drive.run(seconds: 20)
        #expect(drive.told.received.count > 5)
        #expect(Self.isNear(drive.told.received, .milliseconds(60)))
    }

    @Test func `a Pong that takes long counts less than an older one that did not`() throws {
        var drive = try Drive(
            Endpoint(testDescription: "jitter", out: .milliseconds(5), back: .milliseconds(5)))
        drive.jitter = [.zero, .milliseconds(300), .milliseconds(800)]
        drive.run(seconds: 9)
        #expect(drive.told.received.count >= 3)
        #expect(Self.isNear(drive.told.received, .milliseconds(5)))
    }

    @Test func `an endpoint whose receipts have no times gets no Ping, and is measured by nothing`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let opening = OpenSession(
            requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]),
            receiptsEveryMilliseconds: 1_000)
        world.receive(.openSession(opening), from: client)
        let session = try #require(world.opened(client, "r"))
        world.publish(client, session, .startGuidance(World.trip, generation: 1, World.route))
        world.receive(.receipt(Receipt(receivedSequence: 1, shownSequence: 1)), from: car, session)
        world.wait(.seconds(2))
        #expect(!world.messages(car).contains { $0.type == .ping })
        #expect(world.messages(client).contains { $0.type == .receiptReport })
        let record = world.gateway.record(of: VehicleID(unchecked: "car"))
        #expect(record?.endpoints[0].delays == nil)
    }

    @Test func `a session whose client wants no receipts keeps no times`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let receipt = Receipt(
            receivedSequence: 1, shownSequence: 0, receivedNanoseconds: 1, shownNanoseconds: nil)
        world.receive(.receipt(receipt), from: car, session)
        #expect(!world.messages(car).contains { $0.type == .ping })
        #expect(world.gateway.sessions[session]?.published == nil)
    }

    @Test func `what an endpoint gets with the whole state does not count`() throws {
        var drive = try Drive(Endpoint(testDescription: "late"))
        drive.run(seconds: 5)
        let late = drive.world.arrive(3, World.endpoint("car", "late"))
        drive.world.wait(.seconds(3_600))
        let session = try #require(drive.world.gateway.sessions.elements.keys.first)
        let receipt = Receipt(
            receivedSequence: 6, shownSequence: 6, receivedNanoseconds: 1, shownNanoseconds: 1)
        drive.world.receive(.receipt(receipt), from: late, session)
        #expect(!drive.world.messages(late).contains { $0.type == .ping })
    }

    @Test func `Pongs that answer nothing or contradict themselves, and wild times, measure nothing false`()
        throws
    {
        let extremes: [UInt64] = [0, 1, 1 << 62, 1 << 63, .max - 1, .max]
        for received in extremes {
            for sent in extremes {
                var clock = EndpointClock()
                let begin = Instant(nanoseconds: 5)
                let end = Instant(nanoseconds: 1_000_005)
                let asked = clock.ask(at: begin)
                let nonce = try #require(asked)
                clock.answer(
                    nonce &+ 1, PongTimes(receivedNanoseconds: 7, sentNanoseconds: 8), at: end)
                #expect(clock.convert(7, at: end) == nil)
                clock.answer(
                    nonce, PongTimes(receivedNanoseconds: received, sentNanoseconds: sent), at: end)
                let isPossible = sent &- received <= 1_000_000
                #expect((clock.convert(received, at: end) != nil) == isPossible)
                for stamp in extremes { _ = clock.convert(stamp, at: end) }
                #expect(clock.convert(received, at: end + .seconds(11)) == nil)
            }
        }
    }

    @Test func `an endpoint cannot claim a delay below nothing, or longer than until its receipt came`()
        throws
    {
        for stamp in [UInt64.max, 0, 1 << 62] {
            var timing = EndpointTiming()
            var published = PublishedTimes(after: 0)
            published.note(upTo: 1, at: Instant(nanoseconds: 1_000_000_000))
            let now = Instant(nanoseconds: 3_000_000_000)
            let receipt = Receipt(
                receivedSequence: 1, shownSequence: 0, receivedNanoseconds: stamp, shownNanoseconds: nil)
            let asked = timing.note(receipt, published, at: now)
            let nonce = try #require(asked)
            timing.answer(nonce, PongTimes(at: now), at: now)
            let measured = timing.measure(at: now)
            let received = try #require(measured.received)
            #expect((Duration.zero...Duration.seconds(2)).contains(received))
            #expect(measured.shown == nil)
        }
    }

    @Test func `a clock is compared again after two seconds, and a lost Ping is given up after ten`() throws {
        var clock = EndpointClock()
        var now = Instant(nanoseconds: 0)
        let first = clock.ask(at: now)
        let nonce = try #require(first)
        now = now + .seconds(9)
        let early = clock.ask(at: now)
        #expect(early == nil)
        now = now + .seconds(1)
        let again = clock.ask(at: now)
        let second = try #require(again)
        // Too late: it could be measured, but it is the answer to an earlier Ping.
        clock.answer(nonce, PongTimes(at: now), at: now)
        #expect(clock.convert(0, at: now) == nil)
        clock.answer(second, PongTimes(at: now), at: now)
        #expect(clock.convert(now.stamp, at: now)?.instant == now)
        let fresh = clock.ask(at: now + .milliseconds(1_999))
        let due = clock.ask(at: now + .seconds(2))
        #expect(fresh == nil && due != nil)
        clock.reset()
        #expect(clock.convert(0, at: now) == nil)
    }

    @Test func `the times of the newest 512 publications are kept`() {
        var published = PublishedTimes(after: 40)
        for number in 41...1_000 as ClosedRange<UInt64> {
            published.note(upTo: number, at: Instant(nanoseconds: Int64(number)))
        }
        #expect(published[488] == nil && published[1_001] == nil && published[0] == nil)
        for number in 489...1_000 as ClosedRange<UInt64> {
            #expect(published[number] == Instant(nanoseconds: Int64(number)))
        }
        published.note(upTo: 1_100, at: Instant(nanoseconds: 7))
        #expect(published[1_001] == Instant(nanoseconds: 7) && published[1_000]?.nanoseconds == 1_000)
    }

    @Test func `delays are counted by the bounds of the page`() {
        var counts = DelayCounts()
        for milliseconds in [-5, 0, 1, 2, 24, 10_000, 10_001] { counts.add(.milliseconds(milliseconds)) }
        #expect(counts.count == 7)
        #expect(counts.all.map(\.bound) == [1, 5, 25, 10_000, 0])
        #expect(counts.all.map(\.count) == [3, 1, 1, 1, 1])
        #expect(counts.lastMicroseconds == 10_001_000)
        #expect(counts.totalMicroseconds == 20_028_000)
        let later = DelayCounts(
            counts: Array(repeating: .max, count: 16), totalMicroseconds: 1, lastMicroseconds: 1)
        #expect(later.all.count == 13 && later.all.last?.count == 4 * UInt64(UInt32.max))
    }
}
