internal import Glibc

/// An errno from libsystemd or a system call.
package struct SystemdError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The function that failed, for the log.
    package let function: String
    /// Positive errno value; see errno(3).
    package let errno: Int32

    package var description: String {
        guard let text = unsafe strerror(self.errno) else { return "\(self.function): errno \(self.errno)" }
        return unsafe "\(self.function): \(String(cString: text))"
    }

    /// Returns the result of a libsystemd function, or throws it as an errno if it is negative.
    @discardableResult
    static func check(_ result: CInt, of function: String) throws(SystemdError) -> CInt {
        guard result >= 0 else { throw SystemdError(function: function, errno: -result) }
        return result
    }

    /// Returns the result of a system call, or throws errno if it is negative.
    @discardableResult
    static func checkErrno(_ result: CInt, of function: String) throws(SystemdError) -> CInt {
        guard result >= 0 else { throw SystemdError(function: function, errno: Glibc.errno) }
        return result
    }
}
