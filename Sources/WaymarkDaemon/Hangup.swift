internal import Glibc

/// The effect of SIGHUP.
package enum Hangup: Sendable, Hashable {
    /// Reloads the settings.
    case reload
    /// Stops the daemon like SIGTERM, because its terminal was closed.
    case end
    /// None. The signal was ignored before the start, for example by nohup(1).
    case ignore

    /// - Parameters:
    ///   - isReloadWanted: Whether an option on the command line asks for a reload.
    ///   - environment: The environment of the process, which names the service manager in `NOTIFY_SOCKET`.
    /// - Returns: The effect of SIGHUP on this process.
    package static func response(isReloadWanted: Bool, environment: [String: String]) -> Hangup {
        if isReloadWanted || environment["NOTIFY_SOCKET"]?.isEmpty == false { return .reload }
        return self.isIgnored ? .ignore : .end
    }

    private static var isIgnored: Bool {
        var action = sigaction()
        guard unsafe sigaction(SIGHUP, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        // SIG_IGN.
        return handler == 1
    }
}
