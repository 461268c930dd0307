internal import Glibc

/// What SIGHUP does.
package enum Hangup: Sendable, Hashable {
    /// The settings are read again.
    case reload
    /// The daemon ends, as on SIGTERM: its terminal is closed.
    case end
    /// Nothing, as before the start: nohup(1) asks for it.
    case ignore

    /// - Parameters:
    ///   - isReloadWanted: By an option.
    ///   - environment: Of the process. A service manager that is told about the service is in it.
    /// - Returns: What this process does from now on.
    package static func response(isReloadWanted: Bool, environment: [String: String]) -> Hangup {
        if isReloadWanted || environment["NOTIFY_SOCKET"]?.isEmpty == false { return .reload }
        return self.isIgnored ? .ignore : .end
    }

    private static var isIgnored: Bool {
        var action = sigaction()
        guard unsafe sigaction(SIGHUP, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        // SIG_IGN, which is no function.
        return handler == 1
    }
}
