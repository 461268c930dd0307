internal import Foundation
internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// What a scrubber marks: what happened, without frames.
struct Moments {
    static let countMax = 2_000
    private static let parts = 200

    let source: InspectedSource

    func answer(_ query: InspectorQuery) throws(InspectorError) -> Answer.Moments {
        let vehicle = try query.text("vehicle", max: 64)
        let wantsMarks = try query.word("marks", of: ["0", "1"]) != "0"
        let begin = try self.source.time(query, "from") ?? self.source.from
        let end = try self.source.time(query, "to") ?? self.source.end
        guard begin <= end else { throw InspectorError(.invalid, field: "to", "is before from") }
        var moments: [Answer.Moment] = []
        var next: RecordingTime?
        func add(_ text: String, _ time: RecordingTime) {
            guard moments.count < Self.countMax else {
                next = next ?? time
                return
            }
            if let moment = self.moment(text, time, vehicle) { moments.append(moment) }
        }
        switch self.source.history {
        case _ where !wantsMarks: break
        case .recent(let recent):
            var walk = recent.walk(from: begin)
            while let entry = walk.next(), entry.time <= end {
                if case .event(let text) = entry.content { add(text, entry.time) }
            }
        case .recorded(let recording):
            do throws(RecordingError) {
                let read = try recording.events(from: begin, to: end)
                for event in read.events { add(event.text, event.time) }
                next = next ?? read.next
            } catch {
                throw InspectorError(.gone, "the recording cannot be read: \(error)")
            }
        }
        return Answer.Moments(
            from: self.source.seconds(begin), to: self.source.seconds(end), moments: moments,
            density: self.density(begin, end), truncated: next != nil, next: next.map(self.source.seconds))
    }

    private func moment(_ text: String, _ time: RecordingTime, _ wanted: String?) -> Answer.Moment? {
        let entry = RecordedEntry.event(text, at: time)
        let placed = PlacedEntry(entry, EntryPlace(time: time, number: 0, index: 0), RecordedState())
        guard let lane = Self.lane(placed) else { return nil }
        if let wanted, !placed.vehicles.contains(wanted), !["gap", "fault", "step", "verdict"].contains(lane)
        {
            return nil
        }
        let at = self.source.seconds(time)
        let vehicles = placed.vehicles.isEmpty ? nil : placed.vehicles.sorted()
        if let event = placed.event {
            let subject = EventText.subject(event)
            return Answer.Moment(
                at: at, lane: lane,
                text: subject.isEmpty ? EventText.text(event) : "\(subject)  \(EventText.text(event))",
                event: event.kind.rawValue, requestID: event.requestID.isEmpty ? nil : event.requestID,
                vehicles: vehicles)
        }
        var line = RecordedJSON.object(text) ?? [:]
        if self.source.isRedacted { line = EntryObjects.withoutTexts(line) }
        return Answer.Moment(
            at: at, lane: lane, text: line["text"] as? String ?? EntryObjects.text(line),
            verdict: line["verdict"] as? String, step: line["step"] as? Int, vehicles: vehicles)
    }

    private static func lane(_ placed: PlacedEntry) -> String? {
        guard let event = placed.event else {
            return [
                "dropped": "gap", "synchronized": "gap", "connection": "gap", "fault": "fault",
                "mark": "step",
                "verdict": "verdict", "finding": "finding", "end": "verdict",
            ][placed.kind]
        }
        switch event.kind {
        case .admitted, .resumed, .closing, .departed, .rejected, .helloRefused: return "connection"
        case .sessionOpened, .vehiclesRefused, .joined, .left, .suspended, .restored, .sessionEnded:
            return "session"
        case .started, .paused, .continued, .rerouted: return "guidance"
        case .stopRequested, .driveRequested, .startRequested, .requestEnded: return "request"
        case .unknown: return nil
        }
    }

    /// Bytes, or entries, in equal parts of a time, relative to the most.
    private func density(_ begin: RecordingTime, _ end: RecordingTime) -> [Int] {
        let length = Double(end.nanoseconds - begin.nanoseconds)
        guard length > 0 else { return [] }
        var parts = [Double](repeating: 0, count: Self.parts)
        for (first, last, amount) in self.source.amounts where last >= begin && first <= end {
            let from = max(0, (Double(first.nanoseconds) - Double(begin.nanoseconds)) / length)
            let to = min(1, (Double(last.nanoseconds) - Double(begin.nanoseconds)) / length)
            let (low, high) = (Int(from * 199), Int(to * 199))
            for part in min(low, high)...max(low, high) {
                parts[part] += amount / Double(abs(high - low) + 1)
            }
        }
        let most = max(1, parts.max() ?? 1)
        return parts.map { Int(($0 / most * 100).rounded()) }
    }
}

extension InspectedSource {
    /// How much happened between two times, in bytes.
    var amounts: [(RecordingTime, RecordingTime, Double)] {
        switch self.history {
        case .recent(let recent):
            let begins = recent.divisions
            let ends = begins.dropFirst() + [recent.end]
            return zip(zip(begins, ends), recent.divisionByteCounts).map { ($0.0, $0.1, Double($1)) }
        case .recorded(let recording):
            return recording.index.chunks.filter { $0.endTime >= $0.startTime }.map {
                (
                    RecordingTime(nanoseconds: $0.startTime), RecordingTime(nanoseconds: $0.endTime),
                    Double($0.recordByteCount)
                )
            }
        }
    }
}
