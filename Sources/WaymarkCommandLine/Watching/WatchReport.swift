internal import Foundation
internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkTexts

/// Lines for people who watch a gateway: what happens, each with its time. A value without I/O.
struct WatchReport: Sendable {
    struct Options: Sendable {
        /// Also what another line says, too: frames that an event tells of, and publications on their way out.
        var isEverythingShown = false
        /// Events of these kinds were asked for, so that all of them are shown.
        var isRestricted = false
        /// What is shown of messages.
        var messages = WatchedMessages()
        /// Lines are cut to as many columns; nil: they are not cut.
        var columns: Int? = 80
        var timeZone = TimeZone.current
    }

    private let options: Options
    private var wasConnected = false
    private var isLost = false
    /// As wide as the widest so far.
    private var subjectColumns = 13

    init(_ options: Options) { self.options = options }

    // MARK: The connection

    /// The line for a state of the connection; nil if there is nothing new.
    mutating func line(for state: ConnectionState, at time: Date) -> String? {
        switch state {
        case .connecting:
            guard self.wasConnected, !self.isLost else { return nil }
            self.isLost = true
            return self.notice("connection to the gateway lost; reconnecting", at: time)
        case .connected(let isResumed):
            defer { (self.wasConnected, self.isLost) = (true, false) }
            guard self.wasConnected else { return nil }
            return self.notice(
                isResumed
                    ? "connected again" : "connected again; what happened meanwhile is missing", at: time)
        case .closed(let error):
            guard self.wasConnected, error != .closed else { return nil }
            return self.notice("connection closed: \(error)", at: time)
        }
    }

    // MARK: Updates

    /// The line for an update; nil if another one says it, too. `note`: what happened to a frame, which is then always shown.
    mutating func line(for update: GatewayUpdate, note: String? = nil) -> String? {
        switch update.content {
        case .event(let event):
            guard self.isShown(event) else { return nil }
            return self.line(update.time, EventText.subject(event), EventText.text(event))
        case .frame(let frame):
            guard self.isShown(frame) || note != nil else { return nil }
            let text =
                FrameText.text(frame, isShort: self.options.columns != nil) + (note.map { " (\($0))" } ?? "")
            return self.line(update.time, EventText.way(frame), text)
        case .dropped(let count):
            return self.notice(
                "\(count) entries were dropped: this program reads too slowly", at: update.time)
        case .synchronized(let snapshot): return self.notice(Self.text(snapshot), at: update.time)
        case .missed(let count):
            return self.notice("\(count) entries are left out", at: update.time)
        }
    }

    private func isShown(_ event: GatewayEvent) -> Bool {
        if self.options.isEverythingShown || self.options.isRestricted { return true }
        return switch event.kind {
        case .started, .paused, .continued, .rerouted, .stopRequested, .driveRequested, .startRequested: false
        default: true
        }
    }

    private func isShown(_ frame: ObservedFrame) -> Bool {
        if self.options.isEverythingShown { return true }
        let type = frame.message?.type
        // What was asked for is shown, but for publications on their way to vehicles.
        if let type, self.options.messages.areAsked(type) {
            if case .from = frame.way { return true }
            return frame.isFromGateway || !MessageType.published.contains(type.rawValue)
        }
        switch frame.way {
        case .from:
            return switch type {
            case .hello, .goodbye, .openSession, .receipt: false
            default: true
            }
        case .to:
            return switch type {
            case .prompt, .snapshotBegin, .error: true
            case .goodbye:
                if case .goodbye(let goodbye)? = frame.message { !goodbye.reason.isEmpty } else { false }
            case nil: !MessageType.published.contains(FrameHeader(at: 0, of: frame.bytes).rawType)
            case let type?: frame.isFromGateway && MessageType.published.contains(type.rawValue)
            }
        }
    }

    private static func text(_ snapshot: GatewaySnapshot) -> String {
        let observed = snapshot.observed
        let parts = [
            GuidanceText.counted(observed.vehicles.count, "vehicle"),
            GuidanceText.counted(observed.clients.count, "client"),
            GuidanceText.counted(observed.sessions.count, "session"),
        ]
        return "watching \(parts.joined(separator: ", ")) of gateway \(snapshot.gateway.instance)"
    }

    // MARK: Lines

    /// A line about the watching itself.
    func notice(_ text: String, at time: Date) -> String {
        self.cut("\(Self.clock(time, self.options.timeZone))  -- \(text)")
    }

    private static let subjectColumnsMax = 24

    private mutating func line(_ time: Date, _ subject: String, _ text: String) -> String {
        self.subjectColumns = min(Self.subjectColumnsMax, max(self.subjectColumns, subject.count))
        let padding = String(repeating: " ", count: max(0, self.subjectColumns - subject.count))
        return self.cut("\(Self.clock(time, self.options.timeZone))  \(subject)\(padding)  \(text)")
    }

    private func cut(_ line: String) -> String {
        let line = Terminal.printable(line)
        guard let columns = self.options.columns else { return line }
        return Terminal.fitted(line, columns: columns)
    }

    /// `14:12:38.250`, local time.
    static func clock(_ time: Date, _ timeZone: TimeZone = .current) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = calendar.dateComponents([.hour, .minute, .second, .nanosecond], from: time.beforeCut)
        let milliseconds = min(999, (parts.nanosecond ?? 0) / 1_000_000)
        let digits = [(parts.hour, 2), (parts.minute, 2), (parts.second, 2)].map { Self.digits($0 ?? 0, $1) }
        return "\(digits.joined(separator: ":")).\(Self.digits(milliseconds, 3))"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
