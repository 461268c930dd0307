internal import Foundation
internal import ProcessIO
package import WaymarkConfiguration
internal import WaymarkProtocol

/// Where the daemon listens when nothing is configured, and its clients connect.
package enum DefaultAddresses {
    /// The TCP port for vehicles, on loopback.
    package static let port = 7_227

    /// The listeners of an ordinary user's daemon.
    package static var listeners: [Settings.Listener] {
        [
            Settings.Listener(address: "unix:\(self.folder)/vehicle.sock", roles: [.vehicle]),
            Settings.Listener(address: "unix:\(self.folder)/navigation.sock", roles: [.navigation]),
            Settings.Listener(address: "tcp:127.0.0.1:\(self.port)", roles: [.vehicle]),
        ]
    }

    /// The listeners for what the service manager hands over, when nothing is configured.
    static let sockets = [
        Settings.Listener(socket: "waymarkd-vehicle", roles: [.vehicle]),
        Settings.Listener(socket: "waymarkd-navigation", roles: [.navigation]),
    ]

    /// `$XDG_RUNTIME_DIR/waymark`, else `/run/user/UID/waymark`, else `/tmp/waymark-UID`.
    package static var folder: String {
        if let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !runtime.isEmpty {
            return "\(runtime)/waymark"
        }
        let run = "/run/user/\(getuid())"
        return FileManager.default.fileExists(atPath: run) ? "\(run)/waymark" : "/tmp/waymark-\(getuid())"
    }
}

/// A folder for sockets that nobody else may reach into.
package enum PrivateFolder {
    /// Makes the folder if it is not there, for its owner alone, and checks it.
    package static func make(_ path: String) throws(DaemonError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .folder(path: path, reason: Self.reason(error))
        }
        guard try self.check(path) else { throw .folder(path: path, reason: "it vanished") }
    }

    /// What Foundation could not do, in words.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? CocoaError,
            let cause = unsafe error.userInfo[NSUnderlyingErrorKey] as? POSIXError
        else { return "it cannot be made" }
        return "it cannot be made: \(SystemError.reason(cause.code.rawValue))"
    }

    /// Refuses a folder that belongs to another user, that others may write to, or that is none: whoever can write to it
    /// can put a socket of theirs in our place.
    ///
    /// - Returns: false if there is nothing.
    @discardableResult
    package static func check(_ path: String) throws(DaemonError) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else {
                throw .folder(path: path, reason: "it cannot be looked at: \(SystemError.reason(errno))")
            }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .folder(path: path, reason: "it is not a folder")
        }
        guard status.st_uid == getuid() else {
            throw .folder(path: path, reason: "it belongs to user \(status.st_uid)")
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw .folder(path: path, reason: "others may write to it; chmod go-w makes it right")
        }
        return true
    }
}
