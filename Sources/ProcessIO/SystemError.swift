internal import Glibc

/// What the system's error numbers mean.
package enum SystemError {
    /// The system's words for `errno`, to go on in a sentence: "permission denied".
    package static func reason(_ code: CInt) -> String {
        guard let words = unsafe strerror(code) else { return "error \(code)" }
        let text = unsafe String(cString: words)
        // Not "I/O error".
        let isWord = text.dropFirst().first?.isLowercase ?? false
        return isWord ? text.prefix(1).lowercased() + text.dropFirst() : text
    }
}
