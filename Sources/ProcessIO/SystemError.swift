internal import Glibc

/// The system's error numbers as text.
package enum SystemError {
    /// The system's text for `errno`, in lower case to follow a colon: "permission denied".
    package static func reason(_ code: CInt) -> String {
        guard let words = unsafe strerror(code) else { return "error \(code)" }
        let text = unsafe String(cString: words)
        // Keeps the capital letters of "I/O error".
        let isWord = text.dropFirst().first?.isLowercase ?? false
        return isWord ? text.prefix(1).lowercased() + text.dropFirst() : text
    }
}
