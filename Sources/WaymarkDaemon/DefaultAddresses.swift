internal import Foundation
internal import ListeningSockets
internal import ProcessIO
package import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkTransport

/// The addresses without configuration, for the daemon and its clients.
package enum DefaultAddresses {
    /// The loopback TCP port for vehicles.
    package static let port = 7_227

    /// The listeners of a daemon that inherits no sockets.
    package static var listeners: [Settings.Listener] {
        [
            Settings.Listener(address: "unix:\(self.folder)/vehicle.sock", roles: [.vehicle]),
            Settings.Listener(address: "unix:\(self.folder)/navigation.sock", roles: [.navigation]),
            Settings.Listener(address: "unix:\(self.folder)/observe.sock", roles: [.observer]),
            Settings.Listener(address: "tcp:127.0.0.1:\(self.port)", roles: [.vehicle]),
        ]
    }

    /// The listeners of a daemon that inherits sockets and has no settings for them.
    static let sockets = [
        Settings.Listener(socket: "waymarkd-vehicle", roles: [.vehicle]),
        Settings.Listener(socket: "waymarkd-navigation", roles: [.navigation]),
        Self.observers,
    ]

    /// The listener of the package's socket for observers, also beside listeners of settings that are older than that socket.
    static let observers = Settings.Listener(socket: "waymarkd-observe", roles: [.observer])

    /// `$XDG_RUNTIME_DIR/waymark`, else `/run/user/UID/waymark`, else `/tmp/waymark-UID`.
    package static var folder: String {
        if let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !runtime.isEmpty {
            return "\(runtime)/waymark"
        }
        let run = "/run/user/\(getuid())"
        return FileManager.default.fileExists(atPath: run) ? "\(run)/waymark" : "/tmp/waymark-\(getuid())"
    }
}

/// A folder for sockets that no other user can write to.
package enum PrivateFolder {
    /// Creates the folder with mode 0700 if it does not exist, and checks it.
    package static func make(_ path: String) throws(DaemonError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .folder(path: path, reason: Self.reason(error))
        }
        guard try self.check(path) else { throw .folder(path: path, reason: "another process removed it") }
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? CocoaError,
            let cause = unsafe error.userInfo[NSUnderlyingErrorKey] as? POSIXError
        else { return "cannot create it" }
        return "cannot create it: \(SystemError.reason(cause.code.rawValue))"
    }

    /// Whether a Unix socket at this address is in a folder that only this user, and root, can open: what its observers see is their own.
    static func isClosed(around address: ListenAddress) -> Bool {
        guard case .unix(let path) = address else { return false }
        let folder = (path as NSString).deletingLastPathComponent
        guard let real = unsafe realpath(folder, nil) else {
            // It will be created with mode 0700.
            return folder == DefaultAddresses.folder
        }
        defer { unsafe free(real) }
        var parent = unsafe String(cString: real)
        while parent != "/", !parent.isEmpty {
            var status = stat()
            guard unsafe stat(parent, &status) == 0 else { return false }
            if status.st_uid == getuid(), status.st_mode & (S_IRWXG | S_IRWXO) == 0 { return true }
            parent = (parent as NSString).deletingLastPathComponent
        }
        return false
    }

    /// Throws for a folder that belongs to another user, that other users can write to, or that is not a folder. A user who can
    /// write to it could replace our socket.
    ///
    /// - Returns: false if the folder does not exist.
    @discardableResult
    package static func check(_ path: String) throws(DaemonError) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT else {
                throw .folder(path: path, reason: "cannot inspect it: \(SystemError.reason(errno))")
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
            throw .folder(path: path, reason: "other users can write to it; run chmod go-w")
        }
        return true
    }
}
