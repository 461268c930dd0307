internal import Foundation
internal import NIOCore
internal import NetworkErrors
internal import WaymarkProtocol

/// Explains to the user why there is no connection, and what to do.
enum ConnectFailure {
    /// The transport could not be opened.
    static func reason(_ error: any Error, at address: ServiceAddress) -> String {
        let words = NetworkError.reason(error)
        switch NetworkError.code(of: error) {
        case ENOENT: return "there is no such socket; is waymarkd running?"
        case ECONNREFUSED: return "nothing listens there; is waymarkd running?"
        case EACCES, EPERM:
            guard case .unix(let path) = address, let group = self.group(of: path) else { return words }
            return
                "\(words); users in the group \(group) may connect (a new group counts from the next login)"
        case ENOTSOCK: return "this is not a socket"
        case EPROTOTYPE: return "this is not a stream socket"
        default: return words
        }
    }

    /// The connection was opened, but no Welcome came.
    ///
    /// - Parameters:
    ///   - isForeign: What it sent does not begin like a frame.
    ///   - bytes: The first bytes that it sent.
    /// - Returns: What may listen there.
    static func reason(isForeign: Bool, saying bytes: [UInt8]) -> String {
        guard isForeign else {
            return "what listens there closed the connection without an answer; it may not be waymarkd"
        }
        let kind =
            if bytes.starts(with: "HTTP/".utf8) || bytes.starts(with: "<".utf8) {
                "a web server"
            } else if bytes.starts(with: "SSH-".utf8) {
                "an SSH server"
            } else if bytes.starts(with: [0x15, 0x03]) {
                "a TLS server"
            } else {
                "something else"
            }
        return "what listens there is not waymarkd, but \(kind)"
    }

    /// The group that may connect to a socket which this user may not; nil if only its owner may connect, or if the
    /// file cannot be inspected.
    private static func group(of path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IWGRP != 0 else { return nil }
        guard let entry = unsafe getgrgid(status.st_gid) else { return "\(status.st_gid)" }
        return unsafe String(cString: entry.pointee.gr_name)
    }
}
