internal import Synchronization
internal import WaymarkTransport

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
