internal import Glibc

/// The users and groups of this machine.
package enum Account {
    /// The id of a user, given by its name or number; nil if no user has that name.
    package static func user(_ name: String) -> UInt32? {
        if let id = UInt32(name) { return id }
        var entry = unsafe passwd()
        let isFound = unsafe Self.look { (buffer, size) in
            var result: UnsafeMutablePointer<passwd>?
            let code = unsafe getpwnam_r(name, &entry, buffer, size, &result)
            return unsafe (code, result != nil)
        }
        return isFound ? unsafe entry.pw_uid : nil
    }

    /// The id of a group, given by its name or number; nil if no group has that name.
    package static func group(_ name: String) -> UInt32? {
        if let id = UInt32(name) { return id }
        var entry = unsafe Glibc.group()
        let isFound = unsafe Self.look { (buffer, size) in
            var result: UnsafeMutablePointer<Glibc.group>?
            let code = unsafe getgrnam_r(name, &entry, buffer, size, &result)
            return unsafe (code, result != nil)
        }
        return isFound ? unsafe entry.gr_gid : nil
    }

    /// The ids of all groups of a user; empty if no user has this id.
    package static func groups(ofUser id: UInt32) -> [UInt32] {
        var entry = unsafe passwd()
        var groups: [UInt32] = []
        _ = unsafe Self.look { (buffer, size) in
            var result: UnsafeMutablePointer<passwd>?
            let code = unsafe getpwuid_r(id, &entry, buffer, size, &result)
            guard unsafe result != nil else { return (code, false) }
            // Here, because the name is in the buffer.
            var count: CInt = 65_536
            groups = [UInt32](repeating: 0, count: Int(count))
            guard unsafe getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else {
                groups = unsafe [entry.pw_gid]
                return (code, true)
            }
            groups.removeLast(groups.count - Int(count))
            return (code, true)
        }
        return groups
    }

    /// Calls `body` with larger buffers until the entry fits.
    ///
    /// - Returns: Whether there is an entry.
    private static func look(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> (code: CInt, isFound: Bool)
    ) -> Bool {
        var size = 4_096
        while size <= 16_777_216 {
            var buffer = [CChar](repeating: 0, count: size)
            let (code, isFound) = unsafe buffer.withUnsafeMutableBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return (CInt(0), false) }
                return unsafe body(start, size)
            }
            guard code == ERANGE else { return code == 0 && isFound }
            size *= 4
        }
        return false
    }
}
