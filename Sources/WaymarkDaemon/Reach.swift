internal import Glibc
internal import ListeningSockets

/// The peers that can connect to a listener, as the log says it.
enum Reach {
    /// The peers that can connect at an address; the file of a Unix socket must exist.
    static func text(of address: ListenAddress, needsKey: Bool) -> String {
        let peers =
            switch address {
            case .unix(let path): Self.users(of: path)
            case .tcp: address.isLocal ? "every user of this machine" : "every machine that reaches it"
            }
        return needsKey ? "\(peers), with a key" : peers
    }

    /// The users who may write to the file of a socket, and so connect to it.
    private static func users(of path: String) -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return "unknown users" }
        if status.st_mode & S_IWOTH != 0 { return "every user of this machine" }
        let user = "user \(status.st_uid)"
        return status.st_mode & S_IWGRP == 0 ? user : "\(user), group \(status.st_gid)"
    }
}
