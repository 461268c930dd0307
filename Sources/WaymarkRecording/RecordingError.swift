internal import ProcessIO

/// Why a recording cannot be read or written.
package enum RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A system call failed with this `errno`.
    case failed(CInt)
    /// It does not begin as MCAP files do.
    case notMCAP
    /// Something in it contradicts the format.
    case malformed(String)
    /// It is correct, but has what this build does not read.
    case unsupported(String)
    /// There is no state to begin with before this time.
    case noState

    package var description: String {
        switch self {
        case .failed(let code): SystemError.reason(code)
        case .notMCAP: "it is no MCAP file"
        case .malformed(let reason): "it is damaged: \(reason)"
        case .unsupported(let reason): reason
        case .noState: "it has no state of the gateway to begin with"
        }
    }
}
