internal import Glibc

/// An errno returned by libsystemd, or by the system.
package struct SystemdError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The function that failed, for the log.
    package let function: String
    /// Positive errno value; see errno(3).
    package let errno: Int32

    package var description: String {
        guard let text = unsafe strerror(self.errno) else { return "\(self.function): errno \(self.errno)" }
        return unsafe "\(self.function): \(String(cString: text))"
    }

    /// Hands back what a function of libsystemd returned, or throws the errno that it stands for.
    @discardableResult
    static func check(_ result: CInt, of function: String) throws(SystemdError) -> CInt {
        guard result >= 0 else { throw SystemdError(function: function, errno: -result) }
        return result
    }

    /// Hands back what a function of the system returned, or throws errno.
    @discardableResult
    static func checkErrno(_ result: CInt, of function: String) throws(SystemdError) -> CInt {
        guard result >= 0 else { throw SystemdError(function: function, errno: Glibc.errno) }
        return result
    }
}
