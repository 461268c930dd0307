internal import Foundation

/// The descriptor limit of this process, and its division between connections and other uses.
package enum DescriptorLimit {
    /// Descriptors for listeners, the log and libraries.
    private static let reserved = 32
    /// Descriptors of each event loop: epoll, an event and a timer.
    private static let perLoop = 3
    /// Refused connections that may be open at the same time, until they have read their Goodbye.
    private static let refusalsMax = 256

    /// Raises the soft limit to the hard limit.
    ///
    /// - Returns: The limit; `Int.max` if there is none or it is unknown.
    package static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limits = rlimit()
        guard unsafe getrlimit(resource, &limits) == 0 else { return .max }
        var raised = limits
        raised.rlim_cur = limits.rlim_max
        if unsafe setrlimit(resource, &raised) == 0 { limits = raised }
        return Int(clamping: limits.rlim_cur)
    }

    /// Divides `limit` descriptors between connections, at most `connectionsMax`, and refused connections.
    package static func share(
        _ limit: Int, connectionsMax: Int, loops: Int
    ) -> (connectionsMax: Int, refusalsMax: Int) {
        let refusals = min(Self.refusalsMax, max(0, limit / 8))
        return (
            min(connectionsMax, max(1, limit - Self.reserved - Self.perLoop * loops - refusals)), refusals
        )
    }
}
