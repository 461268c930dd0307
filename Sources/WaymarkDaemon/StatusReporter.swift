internal import Synchronization
internal import Systemd
package import WaymarkGateway

/// Keeps the service manager's sentence about this service, as `systemctl status` shows it, up to what there is.
package final class StatusReporter: Sendable {
    private struct State {
        var census: Gateway.Census?
        var trouble: String?
        var told: String?
    }

    /// How often it is to be told what there is: the sentence changes no more often.
    package static let interval = Duration.seconds(1)

    private let notifier: ServiceNotifier
    private let state = Mutex(State())

    package init(notifier: ServiceNotifier) { self.notifier = notifier }

    /// Takes note of what there is now, and tells it if that makes another sentence.
    package func see(_ census: Gateway.Census) {
        self.change { $0.census = census }
    }

    /// Takes note of what is wrong until the next call; nil: nothing is.
    package func setTrouble(_ trouble: String?) {
        self.change { $0.trouble = trouble }
    }

    private func change(_ change: (inout State) -> Void) {
        let sentence = self.state.withLock { state -> String? in
            change(&state)
            guard let census = state.census else { return nil }
            let sentence = ([Self.sentence(for: census)] + (state.trouble.map { [$0] } ?? [])).joined(
                separator: "; ")
            guard sentence != state.told else { return nil }
            state.told = sentence
            return sentence
        }
        if let sentence { self.notifier.tell(.status(sentence)) }
    }

    /// What there is, in words: "2 vehicles with 5 endpoints, 1 session, 1 client".
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

/// Tells the service manager how the service goes down, and asks for more time as long as it gets somewhere.
package final class DrainReporter: Sendable {
    /// For how much longer than now the manager is asked to wait each time that connections have gone.
    package static let patience = Duration.seconds(10)

    private let notifier: ServiceNotifier
    private let connections = Mutex<Int?>(nil)

    package init(notifier: ServiceNotifier) { self.notifier = notifier }

    /// Takes note of how many connections are left. Only progress earns more time.
    package func see(_ connections: Int) {
        let before = self.connections.withLock { kept in
            defer { kept = connections }
            return kept
        }
        guard connections != before else { return }
        let left = StatusReporter.count(connections, "connection")
        let status = Notification.status("going down, \(left) left")
        if connections < before ?? .max {
            self.notifier.tell(status, .extendTimeout(Self.patience))
        } else {
            self.notifier.tell(status)
        }
    }
}
