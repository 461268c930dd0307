package import ListeningSockets
internal import ProcessIO
package import WaymarkConfiguration
internal import WaymarkProtocol
package import WaymarkTransport

/// A listener whose settings have been checked.
package struct ListenerPlan: Sendable, Hashable {
    package let address: ListenAddress
    /// The inherited socket, which ``InheritedListeners`` owns; nil if the daemon opens one at the address.
    package let descriptor: CInt?
    /// Of the file of a Unix socket that the daemon opens.
    package let permissions: SocketPermissions
    package let policy: ListenerPolicy

    /// Plans the listeners of the settings, or the default ones if there are none. Opens nothing.
    ///
    /// An inherited socket belongs to the listener with its name, otherwise to the one with its address. A listener without an
    /// inherited socket is opened at its address. A socket that matches no listener, and a listener with neither a socket nor an
    /// address, are errors.
    package static func all(
        of settings: Settings, inheriting inherited: InheritedListeners
    ) throws(DaemonError) -> [ListenerPlan] {
        let listeners = Self.listeners(of: settings, inherited)
        let sockets = try Self.assign(inherited.sockets, to: listeners)
        var plans: [ListenerPlan] = []
        for (index, listener) in listeners.enumerated() {
            do throws(Problem) {
                let draft = try Draft(listener)
                if let assigned = sockets[index] {
                    for socket in assigned { plans.append(try draft.plan(for: socket)) }
                } else {
                    plans.append(
                        try draft.plan(beside: plans.map(\.address) + inherited.sockets.map(\.address)))
                }
            } catch {
                throw .setting(listener, error.problem)
            }
        }
        return plans
    }

    /// Reports the errors of ``all(of:inheriting:)`` that do not depend on inherited sockets.
    package static func check(_ settings: Settings) throws(DaemonError) {
        var addresses: [ListenAddress] = []
        let listeners = Self.listeners(of: settings, .none)
        _ = try Self.assign([], to: listeners)
        for listener in listeners {
            do throws(Problem) {
                let draft = try Draft(listener)
                guard draft.address != nil else { continue }
                addresses.append(try draft.plan(beside: addresses).address)
            } catch {
                throw .setting(listener, error.problem)
            }
        }
    }

    private static func listeners(
        of settings: Settings, _ inherited: InheritedListeners
    ) -> [Settings.Listener] {
        guard settings.listeners.isEmpty else {
            return settings.listeners + Self.addition(to: settings.listeners, inherited)
        }
        let names = Set(inherited.sockets.map(\.name))
        guard !names.isEmpty else { return DefaultAddresses.listeners }
        return DefaultAddresses.sockets.filter { $0.socket.map(names.contains) ?? false }
    }

    /// The default listener for the package's socket for observers, if it was passed and belongs to no other listener. Why: settings
    /// that are older than that socket must not keep the service from starting after an upgrade.
    private static func addition(
        to listeners: [Settings.Listener], _ inherited: InheritedListeners
    ) -> [Settings.Listener] {
        let added = DefaultAddresses.observers
        let passed = inherited.sockets.filter { $0.name == added.socket }
        guard !passed.isEmpty, !listeners.contains(where: { $0.socket == added.socket }) else { return [] }
        let addresses = listeners.compactMap(Self.address(of:))
        return passed.allSatisfy { addresses.contains($0.address) } ? [] : [added]
    }

    /// The inherited sockets of each listener, by the listener's index.
    private static func assign(
        _ sockets: [InheritedListeners.Socket], to listeners: [Settings.Listener]
    ) throws(DaemonError) -> [Int: [InheritedListeners.Socket]] {
        for (index, listener) in listeners.enumerated() {
            guard let name = listener.socket, listeners[..<index].contains(where: { $0.socket == name })
            else { continue }
            throw .setting(listener, .duplicateSocket(name))
        }
        var assigned: [Int: [InheritedListeners.Socket]] = [:]
        for socket in sockets {
            let index =
                listeners.firstIndex { $0.socket == socket.name }
                ?? listeners.firstIndex { Self.address(of: $0) == socket.address }
            guard let index else {
                throw .stray(name: socket.name, descriptor: socket.descriptor, socket.address)
            }
            assigned[index, default: []].append(socket)
        }
        return assigned
    }

    /// nil if it has none, or an invalid one, which is reported later.
    private static func address(of listener: Settings.Listener) -> ListenAddress? {
        do throws(ListenAddressError) { return try listener.address.map(ListenAddress.init) } catch {
            return nil
        }
    }

    private init(
        _ address: ListenAddress, _ descriptor: CInt?, _ permissions: SocketPermissions, _ draft: Draft
    ) {
        self.address = address
        self.descriptor = descriptor
        self.permissions = permissions
        var policy = ListenerPolicy(roles: draft.listener.roles)
        policy.keys = draft.keys
        let usual = PrivateFolder.isClosed(around: address) ? Visibility.content : .state
        let visibility = draft.listener.visibility ?? usual
        policy.visibility = draft.listener.observesWithoutConsent ? .all : visibility
        self.policy = policy
    }

    /// A listener's settings after the checks that do not depend on inherited sockets.
    private struct Draft {
        let listener: Settings.Listener
        let keys: [ListenerKey]
        /// nil if it uses inherited sockets only.
        let address: ListenAddress?
        private let permissions: SocketPermissions

        init(_ listener: Settings.Listener) throws(Problem) {
            self.listener = listener
            self.keys = try Self.keys(of: listener)
            do throws(ListenAddressError) {
                self.address = try listener.address.map(ListenAddress.init)
            } catch {
                throw Problem(.address(error))
            }
            self.permissions = try Self.permissions(of: listener, self.address)
            if let address { try self.checkReach(of: address, .openToAnyone) }
        }

        func plan(for socket: InheritedListeners.Socket) throws(Problem) -> ListenerPlan {
            try self.checkReach(of: socket.address, .inheritedOpenToAnyone(socket.address))
            return ListenerPlan(socket.address, socket.descriptor, SocketPermissions(), self)
        }

        func plan(beside others: [ListenAddress]) throws(Problem) -> ListenerPlan {
            guard let address else { throw Problem(.notHandedOver) }
            if let other = others.first(where: { $0.collides(with: address) }) {
                throw Problem(.duplicate(of: other))
            }
            return ListenerPlan(address, nil, self.permissions, self)
        }

        private func checkReach(of address: ListenAddress, _ problem: ListenerProblem) throws(Problem) {
            guard address.isLocal || !self.keys.isEmpty || self.listener.allowAnyone else {
                throw Problem(problem)
            }
        }

        private static func keys(of listener: Settings.Listener) throws(Problem) -> [ListenerKey] {
            var keys: [ListenerKey] = []
            if let key = listener.key { keys.append(ListenerKey(name: listener.name, Array(key.utf8))) }
            for key in listener.keys {
                guard let digest = key.digest else { throw Problem(.keyNotRead(file: key.file)) }
                if let other = keys.first(where: { $0.digest == digest }) {
                    throw Problem(.sameKey(key.name, other.name))
                }
                keys.append(ListenerKey(name: key.name, digest: digest))
            }
            return keys
        }

        private static func permissions(
            of listener: Settings.Listener, _ address: ListenAddress?
        ) throws(Problem) -> SocketPermissions {
            var permissions = SocketPermissions()
            switch address {
            case .unix: break
            case .tcp, nil:
                guard listener.mode == nil, listener.group == nil else {
                    throw Problem(.permissionsWithoutFile)
                }
            }
            if let mode = listener.mode { permissions.mode = mode }
            if let name = listener.group {
                guard let group = Account.group(name) else { throw Problem(.unknownGroup(name)) }
                permissions.group = group
            }
            return permissions
        }
    }

    private struct Problem: Error {
        let problem: ListenerProblem
        init(_ problem: ListenerProblem) { self.problem = problem }
    }
}
