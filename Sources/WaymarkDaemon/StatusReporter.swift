internal import Synchronization
internal import Systemd
package import WaymarkGateway

/// Keeps the status line of `systemctl status` up to date.
package final class StatusReporter: Sendable {
    private struct State {
        var census: Gateway.Census?
        var trouble: String?
        var sent: String?
    }

    /// How often the caller should update the census.
    package static let interval = Duration.seconds(1)

    private let notifier: ServiceNotifier
    private let state = Mutex(State())

    package init(notifier: ServiceNotifier) { self.notifier = notifier }

    /// Sends a new status line if the census changed it.
    package func update(_ census: Gateway.Census) {
        self.change { $0.census = census }
    }

    /// Appends a problem to the status line; nil removes it.
    package func setTrouble(_ trouble: String?) {
        self.change { $0.trouble = trouble }
    }

    private func change(_ change: (inout State) -> Void) {
        let sentence = self.state.withLock { state -> String? in
            change(&state)
            guard let census = state.census else { return nil }
            let sentence = ([Self.sentence(for: census)] + (state.trouble.map { [$0] } ?? [])).joined(
                separator: "; ")
            guard sentence != state.sent else { return nil }
            state.sent = sentence
            return sentence
        }
        if let sentence { self.notifier.tell(.status(sentence)) }
    }

    /// The status line: "2 vehicles with 5 endpoints, 1 session, 1 client".
    package static func sentence(for census: Gateway.Census) -> String {
        let vehicles = Self.count(census.vehicles, "vehicle")
        var parts = [
            census.vehicles == 0 ? vehicles : "\(vehicles) with \(Self.count(census.endpoints, "endpoint"))",
            Self.count(census.sessions, "session"), Self.count(census.clients, "client"),
        ]
        if census.requests > 0 { parts.append(Self.count(census.requests, "open request")) }
        return parts.joined(separator: ", ")
    }

    fileprivate static func count(_ number: Int, _ noun: String) -> String {
        switch number {
        case 0: "no \(noun)s"
        case 1: "1 \(noun)"
        default: "\(number) \(noun)s"
        }
    }
}

/// Reports the progress of a shutdown to the service manager, and asks for more time as long as connections close.
package final class DrainReporter: Sendable {
    /// The time that the manager is asked to wait whenever connections have closed.
    package static let timeoutExtension = Duration.seconds(10)

    private let notifier: ServiceNotifier
    private let connections = Mutex<Int?>(nil)

    package init(notifier: ServiceNotifier) { self.notifier = notifier }

    /// Reports the number of remaining connections. Asks for more time only if it is lower than before.
    package func update(_ connections: Int) {
        let before = self.connections.withLock { previous in
            defer { previous = connections }
            return previous
        }
        guard connections != before else { return }
        let left = StatusReporter.count(connections, "connection")
        let status = Notification.status("shutting down, \(left) left")
        if connections < before ?? .max {
            self.notifier.tell(status, .extendTimeout(Self.timeoutExtension))
        } else {
            self.notifier.tell(status)
        }
    }
}
