internal import Foundation
internal import Glibc
internal import ProcessIO

/// The folder of one run: its sockets, the daemon's settings, logs. Only its owner can open it.
package struct RunFolder: Sendable, Hashable {
    /// Why there is none.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let path: String

    /// The longest path of a Unix socket, without the byte that ends it.
    package static let socketPathMax = 107
    /// The longest name of a socket in it.
    private static let nameMax = 32

    /// Makes a folder in the temporary folder, or in `/tmp` where the paths of sockets would be too long.
    ///
    /// - Throws: ``Failure``.
    package init(
        in temporary: String = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    ) throws(Failure) {
        let name = "waymark-rig-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let parent = temporary.hasSuffix("/") ? String(temporary.dropLast()) : temporary
        let isShort = parent.utf8.count + name.utf8.count + Self.nameMax + 2 <= Self.socketPathMax
        self.path = "\(isShort && parent.hasPrefix("/") ? parent : "/tmp")/\(name)"
        guard unsafe mkdir(self.path, 0o700) == 0 else {
            throw Failure(
                description: "the folder \(self.path) cannot be made: \(SystemError.reason(errno))")
        }
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(self.path)/\(name)" }

    /// Removes it with everything in it.
    package func remove() {
        do { try FileManager.default.removeItem(atPath: self.path) } catch {
            // It was removed by another, or the system removes it with its temporary files.
        }
    }
}
