import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkRecording

@Suite struct RecorderTests {
    @Test func `frames are recorded as they crossed, for each connection, with who is behind it`() throws {
        var drive = Drive()
        drive.begin()
        drive.publish("Landstrasse")
        let recording = try drive.recording()
        let topics = recording.index.channels.values.map(\.topic).sorted()
        #expect(
            topics == [
                "/connection/1/in", "/connection/2/out", "/connection/3/out", "/events", "/state",
                "/state/mark",
            ])
        let cluster = recording.index.channels.values.first { $0.topic == "/connection/2/out" }
        #expect(cluster?.metadata == ["peer": "car/cluster", "role": "vehicle"])
        #expect(recording.index.schemas.values.map(\.name) == ["waymark.v1"])
        let frames = try recording.entries().compactMap { entry -> RecordedFrame? in
            if case .frame(let frame) = entry.content { frame } else { nil }
        }
        #expect(frames.map(\.peers) == [["app"], ["car/cluster", "car/hud"]])
        #expect(frames.map(\.direction) == [.in, .out])
        for frame in frames {
            #expect(
                try Codec.decode(frame.frame).message == .publication(.currentRoadName(["Landstrasse"])))
            #expect(frame.frame.header.sequence == 1)
        }
        let times = try #require(recording.times)
        #expect(times.lowerBound == Drive.start)
        #expect(times.upperBound == Drive.start + .milliseconds(100))
    }

    @Test func `events have the keys of watch`() throws {
        var drive = Drive()
        drive.begin()
        drive.happen(.sessionEnded) { event in
            event.vehicles = [VehicleID(unchecked: "car")]
            (event.session, event.code) = (Drive.session, SessionEndReason.finished.rawValue)
            event.client = ClientID(unchecked: "app")
            event.reason = "a \"quoted\"\u{1B} text"
        }
        #expect(
            try drive.recording().events() == [
                #"{"instance":"depot","kind":"synchronized","number":0,"time":"1970-01-01T00:33:20.000Z"}"#,
                #"{"client":"app","code":1,"codeName":"finished","event":"sessionEnded","kind":"event","number":1,"#
                    + #""reason":"a \"quoted\"\u001b text","session":7,"time":"1970-01-01T00:33:20.000Z","#
                    + #""vehicles":["car"]}"#,
            ])
    }

    @Test func `gaps of any size are counted, and end no recording`() throws {
        var drive = Drive()
        drive.begin()
        var recent = RecentHistory(at: Drive.start)
        for _ in 0..<2 {
            let gap = Message.observationGap(ObservationGap(dropped: .max, nextNumber: .max))
            drive.tell(gap)
            recent.apply(gap, at: Drive.start)
        }
        #expect(recent.counts.missed == .max)
        let events = try drive.recording().events().filter { $0.contains("\"kind\":\"dropped\"") }
        #expect(events.count == 2)
    }

    @Test func `the state at any entry is the one that an observer had`() throws {
        var options = Recorder.Options()
        (options.stateBytes, options.chunkBytesMax) = (700, 300)
        var drive = Drive(options)
        drive.begin()
        var states: [(RecordingTime, ObservedGateway)] = []
        for place in 0..<60 {
            drive.publish("Road \(place)")
            if place % 7 == 0 {
                drive.number += 1
                var records = ObservedRecords()
                (records.number, records.instant) = (drive.number, drive.instant)
                var client = ClientRecord(ClientID(unchecked: "client-\(place)"))
                client.connection = ConnectionID(UInt64(100 + place))
                records.clients = [client]
                if place > 7 { records.clientsGone = [ClientID(unchecked: "client-\(place - 7)")] }
                drive.tell(.observedRecords(records))
            }
            states.append((drive.now, drive.observed))
        }
        let recording = try drive.recording()
        #expect(recording.index.chunks.count > 10)
        for (time, state) in states {
            // Everything at `time` itself is part of the state.
            let walk = try RecordingWalk(recording, from: time + .nanoseconds(1))
            #expect(walk.state.gateway.retained == state.retained, "\(time)")
            #expect(walk.state.gateway.clients == state.clients)
            #expect(walk.state.gateway.vehicles == state.vehicles)
            #expect(walk.state.gateway.sessions == state.sessions)
        }
    }

    @Test func `a session that did not change is not written again with the state`() throws {
        var options = Recorder.Options()
        options.stateBytes = 500
        var drive = Drive(options)
        drive.begin()
        var other = ObservedRecords()
        other.number = 1
        drive.number = 1
        other.sessions = [SessionRecord(SessionID(8), of: ClientID(unchecked: "app"))]
        var retained = RetainedFrames(
            SessionID(8),
            Array(
                Codec.encode(
                    Envelope(
                        .publication(.currentRoadName([String(repeating: "x", count: 200)])),
                        session: SessionID(8), sequence: 1)
                ).bytes))
        retained.isFirst = true
        other.retained = [retained]
        drive.tell(.observedRecords(other))
        for place in 0..<100 { drive.publish("Road \(place)") }
        let expected = drive.observed
        let end = drive.now
        let recording = try drive.recording()
        let state = try #require(recording.index.channels.values.first { $0.topic == "/state" }).id
        var written = [SessionID: Int]()
        for message in try recording.index.messages(of: Bytes(drive.files[0])) where message.channel == state
        {
            for part in try #require(Recording.records(message.data)).retained {
                written[part.session, default: 0] += 1
            }
        }
        #expect(written[SessionID(8)] == 1)
        #expect(try #require(written[Drive.session]) > 5)
        let walk = try RecordingWalk(recording, from: end + .nanoseconds(1))
        #expect(walk.state.gateway.retained == expected.retained)
    }

    @Test func `dropped entries become an event, and the state is recorded anew`() throws {
        var drive = Drive()
        drive.begin()
        drive.publish("Before")
        drive.instant = drive.instant + .seconds(1)
        drive.tell(.observationGap(ObservationGap(dropped: 12, nextNumber: drive.number + 13)))
        drive.number += 12
        drive.tellState()
        drive.publish("After")
        let end = drive.now
        let expected = drive.observed
        let recording = try drive.recording()
        let events = try recording.events()
        #expect(events.count == 3)
        #expect(events[1].contains(#""count":12,"kind":"dropped""#))
        #expect(events[2].contains(#""kind":"synchronized""#))
        #expect(drive.recorder.counts.dropped == 12)
        var walk = try RecordingWalk(recording, from: Drive.start + .milliseconds(200))
        #expect(walk.state.gateway.retained[Drive.session]?.frames.count == 1)
        // From before the gap through it: what was told anew has replaced all.
        while try walk.next() != nil {}
        #expect(walk.state.gateway.retained == expected.retained)
        #expect(walk.state.gateway.clients == expected.clients)
        let late = try RecordingWalk(recording, from: end + .nanoseconds(1))
        #expect(late.state.gateway.retained == expected.retained)
    }

    @Test func `a lost connection is an event; another gateway gets another file`() throws {
        var drive = Drive()
        drive.begin()
        drive.handle(.lost)
        drive.handle(.welcomed(Drive.welcome(resumed: true)))
        #expect(drive.files.count == 1)
        drive.handle(.lost)
        drive.begin(instance: "other")
        drive.handle(.ended)
        #expect(drive.files.count == 2)
        let files = try drive.files.map { try Recording(Bytes($0)) }
        #expect(files.map { $0.origin?.instance } == ["depot", "other"])
        let kinds = try files[0].events().map { $0.contains(#""kind":"connection""#) }
        #expect(kinds == [false, true, true, true])
        #expect(try files[0].events()[2].contains(#""resumed":true"#))
    }

    @Test func `files keep to their size, each can be read without the others`() throws {
        var options = Recorder.Options()
        (options.fileBytesMax, options.chunkBytesMax) = (150_000, 2_000)
        var drive = Drive(options)
        drive.begin()
        for place in 0..<1_500 { drive.publish("Road \(place)") }
        let expected = drive.observed
        drive.handle(.ended)
        #expect(drive.files.count > 3)
        var frames = 0
        for file in drive.files {
            #expect(file.count <= 150_000)
            let recording = try Recording(Bytes(file))
            #expect(recording.index.isWhole)
            frames += try recording.entries().count { if case .frame = $0.content { true } else { false } }
        }
        #expect(frames == 3_000)
        #expect(drive.files.dropLast().allSatisfy { $0.count > 140_000 })
        let last = try Recording(Bytes(try #require(drive.files.last)))
        let walk = try RecordingWalk(last, from: drive.now + .nanoseconds(1))
        #expect(walk.state.gateway.retained == expected.retained)
    }

    @Test func `a file ends after its longest time, and chunks are written each tick`() {
        var options = Recorder.Options()
        options.fileDurationMax = .seconds(3_600)
        var drive = Drive(options)
        drive.begin()
        drive.publish("A")
        let before = drive.files[0].count
        drive.handle(.tick)
        #expect(drive.files[0].count > before)
        let written = drive.files[0].count
        drive.handle(.tick)
        #expect(drive.files[0].count == written)
        drive.instant = Instant(nanoseconds: 3_600_000_000_000)
        drive.handle(.tick)
        #expect(drive.files.count == 2)
        #expect(drive.actions.contains(.close))
    }

    @Test func `the state is recorded again after a minute, if anything happened`() throws {
        var drive = Drive()
        drive.begin()
        for _ in 0..<5 {
            drive.instant = drive.instant + .seconds(61)
            drive.handle(.tick)
        }
        drive.publish("A")
        for _ in 0..<5 {
            drive.instant = drive.instant + .seconds(61)
            drive.handle(.tick)
        }
        let recording = try drive.recording()
        let mark = try #require(recording.index.channels.values.first { $0.topic == "/state/mark" }).id
        // At the beginning, with what came after a long time, and a minute after that; while nothing happens, none.
        #expect(recording.index.statistics.messages[mark] == 3)
    }

    @Test func `without places nothing of them is in the file`() throws {
        var options = Recorder.Options()
        options.redactsPlaces = true
        var drive = Drive(options)
        drive.begin()
        for _ in 0..<3 { drive.publish("Landstrasse") }
        drive.handle(.ended)
        let recording = try Recording(Bytes(drive.files[0]))
        #expect(recording.origin?.isRedacted == true)
        let needle = Array("Landstrasse".utf8)
        #expect(!drive.files[0].contains(needle))
        var plain = Drive()
        plain.begin()
        plain.publish("Landstrasse")
        plain.handle(.ended)
        #expect(plain.files[0].contains(needle))
        let isRedacted = try recording.entries().compactMap { entry -> Bool? in
            if case .frame(let frame) = entry.content { frame.isRedacted } else { nil }
        }
        #expect(isRedacted == [true, true, true, true, true, true])
    }

    @Test func `rejected frames are marked, and change no state`() throws {
        var drive = Drive()
        drive.begin()
        drive.publish("A")
        let before = drive.observed
        var told = ObservedFrames(
            .in,
            Array(
                Codec.encode(
                    Envelope(
                        .publication(.currentRoadName(["B"])), session: Drive.session, sequence: 2)
                ).bytes))
        (told.number, told.isRejected, told.session) = (3, true, Drive.session)
        told.connection = Drive.client
        drive.tell(.observedFrames(told))
        let recording = try drive.recording()
        let marks = try recording.entries().compactMap { entry -> Bool? in
            if case .frame(let frame) = entry.content { frame.isRejected } else { nil }
        }
        #expect(marks == [false, false, true])
        let walk = try RecordingWalk(recording, from: drive.now + .nanoseconds(1))
        #expect(walk.state.gateway.retained == before.retained)
    }

    @Test func `a decoded recording has a channel for each message, and the headers beside them`() throws {
        var drive = Drive()
        drive.begin()
        drive.publish("Landstrasse")
        let recording = try drive.recording()
        var export = DecodedExport(recording)
        var file: [UInt8] = []
        try export.write { file += $0 }
        let index = try MCAPIndex(of: Bytes(file))
        #expect(index.isWhole)
        #expect(
            index.channels.values.map(\.topic).sorted() == [
                "/connection/1/in/CurrentRoadName", "/connection/1/in/header",
                "/connection/2/out/CurrentRoadName", "/connection/2/out/header",
                "/connection/3/out/CurrentRoadName", "/connection/3/out/header", "/events",
            ])
        #expect(index.schemas.values.map(\.name) == ["waymark.v1.CurrentRoadName"])
        let messages = try index.messages(of: Bytes(file))
        let body = try #require(
            messages.first { index.channels[$0.channel]?.topic == "/connection/1/in/CurrentRoadName" })
        #expect(body.data == [0x0A, 11] + Array("Landstrasse".utf8)[...])
    }

    @Test func `the same events make the same bytes`() {
        let files = (0..<2).map { _ in
            var drive = Drive()
            drive.begin()
            for place in 0..<200 { drive.publish("Road \(place)") }
            drive.handle(.ended)
            return drive.files
        }
        #expect(files[0] == files[1])
    }
}

extension [UInt8] {
    func contains(_ needle: [UInt8]) -> Bool {
        guard self.count >= needle.count else { return false }
        return (0...self.count - needle.count).contains { self[$0..<$0 + needle.count] == needle[...] }
    }
}
