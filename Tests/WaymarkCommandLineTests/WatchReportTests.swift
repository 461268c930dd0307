import Foundation
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol
import WaymarkTexts

@testable import WaymarkClient
@testable import WaymarkCommandLine

private let place = Waypoint(
    center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Vaduz"], addressVariants: ["Street 1"])
private let session = SessionID(7)
private let car = VehicleID(unchecked: "car")
/// 14:12:38.250.
private let time = Date(timeIntervalSince1970: 1_795_356_758.25)

private func frame(
    _ message: Message, _ way: ObservedFrame.Way, sequence: UInt64 = 0, flags: FrameHeader.Flags = [],
    vehicles: Set<VehicleID> = [car], redacted: Bool = false, rejected: Bool = false
) -> ObservedFrame {
    let envelope = Envelope(message, session: session, sequence: sequence, flags: flags)
    return ObservedFrame(
        Codec.encode(envelope), way, to: vehicles, isRedacted: redacted, isRejected: rejected)
}

private func update(_ content: GatewayUpdate.Content) -> GatewayUpdate {
    GatewayUpdate(number: 17, time: time, content: content)
}

private func event(
    _ kind: ObservedKind, code: UInt32 = 0, reason: String = "", peer: String = "",
    vehicles: [VehicleID] = [car]
) -> GatewayEvent {
    var event = ObservedEvent(kind)
    event.code = code
    event.reason = reason
    event.vehicles = vehicles
    event.client = ClientID(unchecked: "app")
    event.session = session
    event.request = kind == .requestEnded ? "stop-1" : ""
    return GatewayEvent(event, peer: peer)
}

@Suite struct WatchReportTests {
    private static func report(_ change: (inout WatchReport.Options) -> Void = { _ in }) -> WatchReport {
        var options = WatchReport.Options()
        options.timeZone = .gmt
        change(&options)
        return WatchReport(options)
    }

    private static func line(_ content: GatewayUpdate.Content) -> String? {
        var report = Self.report()
        return report.line(for: update(content))
    }

    private static var start: Message {
        .publication(
            .startGuidance(
                Trip(id: "t", origin: place, destination: place), generation: 1,
                RouteInformation(maneuvers: [Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn)])))
    }

    @Test func `a publication is one line, with its client, its vehicles and its number`() {
        let line = Self.line(.frame(frame(Self.start, .from("app"), sequence: 1)))
        #expect(line == "14:12:38.250  app > car      StartGuidance 1: Vaduz to Vaduz, 1 maneuver")
        let bus = VehicleID(unchecked: "bus")
        let several = frame(Self.start, .from("app"), sequence: 1, vehicles: [car, bus])
        #expect(Self.line(.frame(several))?.contains("  app > bus +1 ") == true)
    }

    @Test func `a line says what may interrupt the display, and how important an alert is`() {
        func alert(_ change: (inout NavigationAlert) -> Void) -> String? {
            var alert = NavigationAlert(id: 1, titleVariants: ["Traffic jam"])
            change(&alert)
            return Self.line(.frame(frame(.publication(.showAlert(alert)), .from("app"), sequence: 2)))
        }
        #expect(alert { _ in } == "14:12:38.250  app > car      ShowAlert 2: 1: Traffic jam")
        #expect(
            alert { ($0.notification, $0.priority) = (.once, .high) }
                == "14:12:38.250  app > car      ShowAlert 2: 1, high, once: Traffic jam")
        #expect(
            alert { $0.notification = .withEstimates }
                == "14:12:38.250  app > car      ShowAlert 2: 1, withEstimates: Traffic jam")
        let styles: [NotificationStyle?] = [.withEstimates, .never, nil, .once]
        let maneuvers = styles.enumerated().map { index, style in
            Maneuver(id: ManeuverID(rawValue: UInt32(index + 1)), type: .leftTurn, notification: style)
        }
        let start = Message.publication(
            .startGuidance(
                Trip(id: "t", origin: place, destination: place), generation: 1,
                RouteInformation(maneuvers: maneuvers)))
        #expect(
            Self.line(.frame(frame(start, .from("app"), sequence: 1)))
                == "14:12:38.250  app > car      StartGuidance 1: Vaduz to Vaduz, 4 maneuvers, 2 in…")
        let added = Message.publication(.addManeuvers(Array(maneuvers.prefix(1)), generation: 1))
        #expect(
            Self.line(.frame(frame(added, .from("app"), sequence: 3)))
                == "14:12:38.250  app > car      AddManeuvers 3: 1 maneuver, 1 interrupt")
    }

    @Test func `a publication on its way to vehicles is left out, unless all lines are wanted`() {
        let out = update(
            .frame(frame(Self.start, .to(["car/cluster"]), sequence: 1, flags: [.fitted, .more])))
        var report = Self.report()
        #expect(report.line(for: out) == nil)
        report = Self.report { $0.isEverythingShown = true }
        #expect(
            report.line(for: out)
                == "14:12:38.250  > car/cluster  StartGuidance 1: Vaduz to Vaduz, 1 maneuver, cut t…"
        )
    }

    @Test func `a frame that the gateway added is shown`() {
        let added = frame(
            .publication(.cancelGuidance), .to(["car/cluster"]), sequence: 9, flags: [.gateway])
        #expect(Self.line(.frame(added)) == "14:12:38.250  > car/cluster  CancelGuidance 9")
    }

    @Test func `a redacted frame has no name and no place`() {
        let line = Self.line(.frame(frame(Self.start, .from("app"), sequence: 1, redacted: true)))
        #expect(line == "14:12:38.250  app > car      StartGuidance 1: 1 maneuver")
        let request = WaypointRequest(requestID: "stop-1", waypoint: place)
        let asked = frame(.waypointRequest(request), .from("car/cluster"), redacted: true)
        #expect(Self.line(.frame(asked)) == "14:12:38.250  car/cluster >  WaypointRequest: stop-1")
    }

    @Test func `a stop is told from the request to its end`() {
        let request = WaypointRequest(requestID: "stop-1", waypoint: place)
        let estimates = TravelEstimates(distanceRemaining: .meters(900), timeRemaining: .seconds(90))
        let answer = RequestAnswer(requestID: "stop-1", vehicle: car, answer: .estimates(estimates))
        let prompt = Prompt(
            requestID: "stop-1", waypoint: place, travelEstimates: estimates, deadlineMilliseconds: 60_000)
        var report = Self.report()
        let lines = [
            GatewayUpdate.Content.frame(frame(.waypointRequest(request), .from("car/cluster"))),
            .event(event(.stopRequested)), .frame(frame(.waypointRequest(request), .to(["app"]))),
            .frame(frame(.requestAnswer(answer), .from("app"))),
            .frame(frame(.prompt(prompt), .to(["car/cluster"]))),
            .frame(
                frame(
                    .promptAnswer(PromptAnswer(requestID: "stop-1", isAccepted: true)), .from("car/cluster"))),
            .event(event(.requestEnded, code: Outcome.accepted.rawValue)),
        ].compactMap { report.line(for: update($0)) }
        #expect(
            lines.map { $0.dropFirst(14) } == [
                "car/cluster >  WaypointRequest: Vaduz (stop-1)",
                "app >          RequestAnswer: 900 m, 2 min with the stop (stop-1)",
                "> car/cluster  Prompt: Vaduz, 900 m, 2 min, 60 s to answer (stop-…",
                "car/cluster >  PromptAnswer: yes (stop-1)",
                "car            the request ended: accepted (stop-1)",
            ])
    }

    @Test func `every kind of event has a sentence`() {
        for kind in ObservedKind.allCases {
            var report = Self.report { $0.isRestricted = true }
            let line = report.line(
                for: update(.event(event(kind, code: 1, reason: "rule 3", peer: "car/hud"))))
            #expect(line?.hasPrefix("14:12:38.250  car/hud        ") == true)
        }
        #expect(
            Self.line(.event(event(.helloRefused, reason: "rules[2]")))
                == "14:12:38.250  car            refused by the access rules: rules[2]")
        #expect(
            Self.line(.event(event(.admitted, vehicles: [])))
                == "14:12:38.250  app            connected")
    }

    @Test func `what the gateway dropped is a line`() {
        #expect(
            Self.line(.dropped(214))
                == "14:12:38.250  -- 214 entries were dropped: this program reads too slowly")
    }

    @Test func `control characters of others do not reach the terminal`() {
        let name = frame(.publication(.currentRoadName(["a\u{1B}[2Jb"])), .from("app"), sequence: 2)
        #expect(Self.line(.frame(name))?.hasSuffix("RoadName 2: a [2Jb") == true)
    }

    @Test func `the loss of a connection is told once`() {
        var report = Self.report()
        let states: [ConnectionState] = [
            .connecting, .connected(resumed: false), .connecting, .connecting, .connected(resumed: true),
            .closed(.closed),
        ]
        let lines = states.compactMap { report.line(for: $0, at: time) }
        #expect(
            lines == [
                "14:12:38.250  -- connection to the gateway lost; reconnecting",
                "14:12:38.250  -- connected again",
            ])
    }

    @Test func `a frame of an unknown type is told by its number`() {
        let bytes = Frame(header: FrameHeader(type: 0x0142, session: session), body: [1, 2])
        let unknown = ObservedFrame(bytes, .from("app"), to: [car], isRedacted: false, isRejected: false)
        #expect(Self.line(.frame(unknown))?.hasSuffix("unknown type 0x0142: 26 bytes") == true)
        let object = json(.frame(unknown))
        #expect(object["message"] as? String == "0x0142")
        #expect(object["bytes"] as? Int == 26)
    }
}

private func json(_ content: GatewayUpdate.Content) -> NSDictionary {
    let line = ObservedJSON.line(update(content))
    return (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary) ?? [:]
}

@Suite struct ObservedJSONTests {
    @Test func `times that are sums of seconds are printed with their own millisecond`() throws {
        let utc = try #require(TimeZone(identifier: "UTC"))
        for count in 0..<1_000 {
            let time = Date(timeIntervalSince1970: 1_795_000_000.25).addingTimeInterval(Double(count) / 1_000)
            let milliseconds = (250 + count) % 1_000
            let digits = ".\(String(repeating: "0", count: 3 - "\(milliseconds)".count))\(milliseconds)"
            #expect(JSON.time(time).hasSuffix("\(digits)Z"))
            #expect(WatchReport.clock(time, utc).hasSuffix(digits))
        }
    }

    @Test func `an event has its names`() {
        let expected: NSDictionary = [
            "kind": "event", "event": "requestEnded", "number": 17, "time": "2026-11-22T14:12:38.250Z",
            "vehicles": ["car"], "client": "app", "session": 7, "code": 1, "codeName": "accepted",
            "requestID": "stop-1",
        ]
        #expect(json(.event(event(.requestEnded, code: Outcome.accepted.rawValue))) == expected)
    }

    @Test func `a frame has the content of the same line of a cluster`() {
        let estimates = TravelEstimates(distanceRemaining: .meters(900), timeRemaining: .seconds(90))
        let object = json(
            .frame(
                frame(
                    .publication(.tripEstimates(estimates, .default)), .to(["car/cluster", "car/hud"]),
                    sequence: 4)
            ))
        let expected: NSDictionary = [
            "kind": "frame", "message": "updateTripEstimates", "number": 17,
            "time": "2026-11-22T14:12:38.250Z", "to": ["car/cluster", "car/hud"], "session": 7, "sequence": 4,
            "fitted": false, "more": false, "fromGateway": false, "redacted": false, "rejected": false,
            "bytes": object["bytes"] ?? 0, "timeRemainingColor": "default",
            "tripEstimates": ["distanceMeters": 900, "timeSeconds": 90],
        ]
        #expect(object == expected)
    }

    @Test func `messages that never come to a vehicle have their content`() {
        let status = VehicleStatus(
            vehicle: car, standing: .left(.finished),
            endpoints: [EndpointStatus(endpoint: EndpointName(unchecked: "hud"), isReady: true)])
        let messages: [(Message, NSDictionary)] = [
            (
                .openSession(OpenSession(requestID: "o", vehicles: .vehicles([car]))),
                ["requestID": "o", "vehicles": ["car"], "receiptsEveryMilliseconds": 0]
            ),
            (
                .vehicleChanged(status),
                [
                    "vehicle": "car", "standing": "left", "endReason": "finished",
                    "endpoints": [
                        ["endpoint": "hud", "ready": true, "locale": "", "withheld": [:] as NSDictionary]
                    ],
                ]
            ),
            (.acknowledgement(sequence: 64), ["acknowledged": 64]),
            (
                .receipt(Receipt(receivedSequence: 9, shownSequence: 8)), ["received": 9, "shown": 8]
            ),
            (
                .requestAnswer(RequestAnswer(requestID: "r", vehicle: car, answer: .decline(.busy))),
                ["requestID": "r", "vehicle": "car", "answer": "decline", "outcome": "busy"]
            ),
            (
                .promptAnswer(PromptAnswer(requestID: "r", isAccepted: true)),
                ["requestID": "r", "accepted": true]
            ),
            (.cancelNavigation(.userStopped), ["cancelReason": "userStopped"]),
            (
                .destinationShareStatus(
                    DestinationShareStatus(shareID: "s", vehicle: car, stage: .didFailToShare(.gone))),
                ["shareID": "s", "vehicle": "car", "stage": "didFailToShare", "outcome": "gone"]
            ),
            (
                .goodbye(Goodbye(.slowConsumer, reason: "slow")),
                ["code": "slowConsumer", "reason": "slow", "reconnectAfterMilliseconds": 0]
            ),
        ]
        for (message, content) in messages {
            let object = json(.frame(frame(message, .from("app"))))
            for (key, value) in content {
                #expect(object[key] as? NSObject == value as? NSObject, "\(message.type): \(key)")
            }
        }
    }
}
