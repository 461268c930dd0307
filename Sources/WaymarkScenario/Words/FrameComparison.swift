package import WaymarkHistory
internal import WaymarkModel
package import WaymarkProtocol

/// Two frames of the gateway, one of a recording and one of its replay.
package enum FrameComparison {
    /// Whether they are the same but for what may differ. `sessions` are the replay's ids of the recording's; if the recording hides
    /// something of the frame, only the header is compared.
    package static func isEqual(
        _ recorded: CrossedFrame, _ replayed: CrossedFrame, _ sessions: [SessionID: SessionID],
        _ isHidden: Bool, _ tolerance: ReplayTolerance = .virtual
    ) -> Bool {
        let (old, new) = (recorded.frame.header, replayed.frame.header)
        guard old.rawType == new.rawType, old.key == new.key, old.flags == new.flags,
            old.sequence == new.sequence, Self.mapped(old.session, sessions) == new.session
        else { return false }
        if isHidden || recorded.frame.body == replayed.frame.body { return true }
        guard let first = recorded.message, let second = replayed.message else { return false }
        if case .publication = first { return false }
        return Self.comparable(first, sessions, tolerance, like: second)
            == Self.comparable(second, [:], tolerance, like: second)
    }

    private static func mapped(_ session: SessionID, _ sessions: [SessionID: SessionID]) -> SessionID {
        sessions[session] ?? session
    }

    /// A message without what may differ. Ages and deadlines that are near to those of the other become those.
    private static func comparable(
        _ message: Message, _ sessions: [SessionID: SessionID], _ tolerance: ReplayTolerance,
        like other: Message
    ) -> Message {
        switch (message, other) {
        case (.welcome(var welcome), _):
            welcome.resumptionToken = ResumptionToken(high: 0, low: 0)
            welcome.software = ""
            welcome.gateway = .unnamed
            for index in welcome.sessions.indices {
                welcome.sessions[index].session = Self.mapped(welcome.sessions[index].session, sessions)
            }
            return .welcome(welcome)
        case (.sessionOpened(var opened), _):
            opened.session = Self.mapped(opened.session, sessions)
            return .sessionOpened(opened)
        case (.sessionEnded(var ended), _):
            ended.session = Self.mapped(ended.session, sessions)
            return .sessionEnded(ended)
        case (.error(var error), _):
            error.session = Self.mapped(error.session, sessions)
            return .error(error)
        case (.snapshotBegin(var begin), .snapshotBegin(let other)):
            begin.ageMilliseconds = tolerance.near(begin.ageMilliseconds, other.ageMilliseconds)
            begin.estimatesAgeMilliseconds =
                tolerance.near(begin.estimatesAgeMilliseconds, other.estimatesAgeMilliseconds)
            return .snapshotBegin(begin)
        case (.sessionSuspended(var suspended), .sessionSuspended(let other)):
            suspended.ageMilliseconds = tolerance.near(suspended.ageMilliseconds, other.ageMilliseconds)
            suspended.estimatesAgeMilliseconds =
                tolerance.near(suspended.estimatesAgeMilliseconds, other.estimatesAgeMilliseconds)
            suspended.graceMilliseconds =
                tolerance.near(suspended.graceMilliseconds, other.graceMilliseconds) ?? 0
            return .sessionSuspended(suspended)
        case (.prompt(var prompt), .prompt(let other)):
            prompt.deadlineMilliseconds =
                tolerance.near(prompt.deadlineMilliseconds, other.deadlineMilliseconds) ?? 0
            return .prompt(prompt)
        case (.receiptReport(var report), _):
            // They are times of another run; a replayed endpoint tells those of the recorded one.
            for index in report.endpoints.indices {
                report.endpoints[index].receivedDelayMicroseconds = nil
                report.endpoints[index].shownDelayMicroseconds = nil
            }
            return .receiptReport(report)
        default: return message
        }
    }

    // MARK: Differences

    /// The fields that differ.
    package static func differences(
        _ recorded: CrossedFrame, _ replayed: CrossedFrame, _ sessions: [SessionID: SessionID]
    ) -> [FieldDifference] {
        let (old, new) = (recorded.frame.header, replayed.frame.header)
        guard old.rawType == new.rawType else {
            return [FieldDifference("message", expected: Self.name(recorded), seen: Self.name(replayed))]
        }
        var differences: [FieldDifference] = []
        for key in MessageFields.keys(of: old.type) {
            if key.name == "session", Self.mapped(old.session, sessions) == new.session { continue }
            Self.compare(
                key.read(recorded), key.read(replayed), key.name, key.type, into: &differences)
        }
        guard differences.isEmpty else { return differences }
        let place = zip(recorded.frame.body, replayed.frame.body).enumerated().first { $1.0 != $1.1 }?.offset
        let at = place.map { ", other from byte \($0) on" } ?? ""
        return [
            FieldDifference(
                "body", expected: "\(recorded.frame.body.count) bytes",
                seen: "\(replayed.frame.body.count) bytes\(at)")
        ]
    }

    private static func name(_ frame: CrossedFrame) -> String {
        frame.frame.header.type?.title ?? "type \(frame.frame.header.rawType)"
    }

    private static let differencesMax = 12

    private static func compare(
        _ old: FieldValue?, _ new: FieldValue?, _ path: String, _ type: FieldType,
        into differences: inout [FieldDifference]
    ) {
        guard differences.count < Self.differencesMax else { return }
        switch (old, new) {
        case (nil, nil): return
        case (.object(let first)?, .object(let second)?):
            guard !first.isEqual(to: second) else { return }
            return Self.compare(first, second, path, into: &differences)
        case (.list(let first)?, .list(let second)?):
            guard !first.isEqual(to: second) else { return }
            guard first.count == second.count else { break }
            for index in 0..<first.count {
                Self.compare(
                    first[field: index], second[field: index], "\(path)[\(index)]", type.element,
                    into: &differences)
            }
            return
        case (let first?, let second?): if first.isEqual(to: second) { return }
        default: break
        }
        differences.append(
            FieldDifference(
                path, expected: old.map { $0.text(type) } ?? "none", seen: new.map { $0.text(type) } ?? "none"
            ))
    }

    private static func compare(
        _ old: any FieldObject, _ new: any FieldObject, _ path: String,
        into differences: inout [FieldDifference]
    ) {
        for (index, key) in Swift.type(of: old).keys.enumerated() {
            Self.compare(
                old.value(at: index), new.value(at: index), "\(path).\(key)",
                Swift.type(of: old).type(at: index), into: &differences)
        }
    }
}
