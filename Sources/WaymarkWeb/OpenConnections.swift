#if Inspector
    internal import NIOCore
    internal import Synchronization

    /// The use of a connection. One with a lower value makes room for a new connection before one with a higher value.
    enum ConnectionUse: Int, Sendable {
        /// No request is under way: the first has not begun, or all are answered.
        case idle
        /// A request is arriving. Its head is complete, and the rest is not.
        case asking
        /// A request has arrived, and the peer has not yet received the whole response.
        case answering
        /// A stream of events is being written.
        case streaming
    }

    /// The open connections of a server, and which of them makes room for a new one.
    ///
    /// Every user of this machine can connect, and TCP does not tell which one did, so that users cannot have shares. Instead a
    /// connection keeps its place by being used: a new one replaces the one that has been idle longest. If none is idle, it replaces
    /// the one that has been busy longest, of those whose request is still arriving before those that are being answered. Streams of
    /// events keep their places, since only pages that know the token have one, and they are few.
    final class OpenConnections: Sendable {
        private struct Entry {
            let channel: any Channel
            var use = ConnectionUse.idle
            /// The number of the change that made the connection idle, or busy.
            var since: UInt64
            var isClosing = false

            func makesRoom(before other: Entry) -> Bool {
                (self.use.rawValue, self.since) < (other.use.rawValue, other.since)
            }
        }

        private struct State {
            var entries: [ObjectIdentifier: Entry] = [:]
            var changes: UInt64 = 0

            mutating func nextChange() -> UInt64 {
                self.changes += 1
                return self.changes
            }
        }

        private let max: Int
        private let state = Mutex(State())

        init(max: Int) { self.max = max }

        /// Whether another connection may be accepted: what had to make room is closed.
        var hasRoom: Bool { self.state.withLock { $0.entries.count <= self.max } }

        /// Counts a new connection.
        ///
        /// - Returns: The connection that must be closed for it, which is the new one itself if all others stream events; nil if there
        ///   is room for all.
        func add(_ channel: any Channel) -> (any Channel)? {
            self.state.withLock { state in
                let id = ObjectIdentifier(channel)
                var others = state.entries.filter { !$0.value.isClosing }
                state.entries[id] = Entry(channel: channel, since: state.nextChange())
                guard others.count >= self.max else { return nil }
                others = others.filter { $0.value.use != .streaming }
                let closing = others.min { $0.value.makesRoom(before: $1.value) }?.key ?? id
                state.entries[closing]?.isClosing = true
                return state.entries[closing]?.channel
            }
        }

        /// Notes what a connection is used for. A busy one stays as old as it is, so that one request behind another does not keep a
        /// place for ever.
        func change(_ channel: any Channel, to use: ConnectionUse) {
            self.state.withLock { state in
                guard var entry = state.entries[ObjectIdentifier(channel)] else { return }
                if (entry.use == .idle) != (use == .idle) { entry.since = state.nextChange() }
                entry.use = use
                state.entries[ObjectIdentifier(channel)] = entry
            }
        }

        /// Forgets a connection that has closed.
        func remove(_ channel: any Channel) {
            self.state.withLock { $0.entries[ObjectIdentifier(channel)] = nil }
        }
    }
#endif
