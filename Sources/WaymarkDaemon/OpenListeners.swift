internal import ListeningSockets
internal import NIOCore
internal import Synchronization
internal import WaymarkTransport

/// A listener that is about to be opened.
struct PendingListener {
    let plan: ListenerPlan
    let currentPolicy: CurrentPolicy
    /// The listening socket of the previous process, if it had one for this listener.
    var socket: HandedOver.Listening?

    init(_ plan: ListenerPlan) {
        self.plan = plan
        self.currentPolicy = CurrentPolicy(plan.policy)
    }

    /// Accepts on the inherited socket, or on that of the previous process, or on a new one.
    func open(_ driver: GatewayDriver, _ group: any EventLoopGroup) async throws(ListenerError) -> Listener {
        if let descriptor = self.plan.descriptor {
            return try await Listener.adopt(
                copyOf: descriptor, currentPolicy: self.currentPolicy, driver: driver, group: group)
        }
        if let socket,
            let listener = try await Listener.takeOver(
                socket.descriptor, at: socket.address, currentPolicy: self.currentPolicy, driver: driver,
                group: group)
        {
            return listener
        }
        return try await Listener.open(
            self.plan.address, permissions: self.plan.permissions, currentPolicy: self.currentPolicy,
            driver: driver,
            group: group)
    }
}

/// The open listeners. Behind a lock, because a reload changes them while other tasks read them.
final class OpenListeners: Sendable {
    /// An open listener and its plan.
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
