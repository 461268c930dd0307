internal import NIOCore
internal import Synchronization
internal import WaymarkTransport

/// A listener that is about to be opened.
struct Opening {
    let plan: ListenerPlan
    let rules: ListenerRules
    /// The socket that it had in the process before.
    var socket: HandedOver.Listening?

    init(_ plan: ListenerPlan) {
        self.plan = plan
        self.rules = ListenerRules(plan.policy)
    }

    /// Opens it, or accepts from what there is.
    func open(_ driver: GatewayDriver, _ group: any EventLoopGroup) async throws(ListenerError) -> Listener {
        if let descriptor = self.plan.descriptor {
            return try await Listener.adopt(
                copyOf: descriptor, rules: self.rules, driver: driver, group: group)
        }
        if let socket,
            let listener = try await Listener.goOn(
                socket.descriptor, at: socket.address, rules: self.rules, driver: driver, group: group)
        {
            return listener
        }
        return try await Listener.open(
            self.plan.address, permissions: self.plan.permissions, rules: self.rules, driver: driver,
            group: group)
    }
}

/// The listeners that are open, for all tasks of the daemon: a reload changes them while others look.
final class Entrances: Sendable {
    /// A listener that is open, and what it was opened for.
    struct Entry: Sendable {
        var plan: ListenerPlan
        let listener: Listener
    }

    private let entries = Mutex<[Entry]>([])

    /// In the order of the settings.
    var all: [Entry] {
        get { self.entries.withLock { $0 } }
        set { self.entries.withLock { $0 = newValue } }
    }
}
