internal import Foundation

/// How many descriptors this process may have, and what that leaves for connections.
package enum DescriptorLimit {
    /// Listeners, event loops, the log, and what the libraries open.
    private static let spare = 32
    /// Refused peers that are told why at a time, if there are descriptors for them.
    private static let refusalsMax = 256

    /// Raises the limit as far as the system allows.
    ///
    /// - Returns: The limit; `Int.max` where there is none or it is not known.
    package static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limits = rlimit()
        guard unsafe getrlimit(resource, &limits) == 0 else { return .max }
        var raised = limits
        raised.rlim_cur = limits.rlim_max
        if unsafe setrlimit(resource, &raised) == 0 { limits = raised }
        return Int(clamping: limits.rlim_cur)
    }

    /// What `limit` descriptors leave for connections, of which `connectionsMax` are wanted, and for refusals.
    package static func share(
        _ limit: Int, connectionsMax: Int
    ) -> (connectionsMax: Int, refusalsMax: Int) {
        let refusals = min(Self.refusalsMax, max(0, limit / 8))
        return (min(connectionsMax, max(1, limit - Self.spare - refusals)), refusals)
    }
}
