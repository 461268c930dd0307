internal import Glibc

/// Why a file cannot be read.
package enum FileError: Error, Sendable, Hashable, CustomStringConvertible {
    case isFolder
    /// A pipe, a socket or a device.
    case isNoFile
    case tooLarge(bytesMax: Int)
    /// A system call failed with this `errno`.
    case failed(CInt)

    package var description: String {
        switch self {
        case .isFolder: "it is a folder, not a file"
        case .isNoFile: "it is not a regular file"
        case .tooLarge(let bytesMax): "it is larger than \(bytesMax / 1_048_576) MiB"
        case .failed(let code): SystemError.reason(code)
        }
    }
}

/// The whole content of a file.
package struct FileContent: Sendable {
    package let bytes: [UInt8]
    /// Whether every user of the machine can read it.
    package let isReadableByAll: Bool

    /// The default limit, larger than any file this program reads.
    package static let bytesMax = 268_435_456

    /// Reads a file to its end.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - bytesMax: The most that is read.
    ///   - allowsPipe: A pipe or a device is read, too, and waited for.
    /// - Throws: Why it cannot be read.
    package init(path: String, bytesMax: Int = Self.bytesMax, allowsPipe: Bool = false) throws(FileError) {
        // Opening a pipe waits for a program that writes to it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (allowsPipe ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw .failed(errno) }
        defer { _ = close(descriptor) }
        try self.init(descriptor: descriptor, bytesMax: bytesMax, allowsPipe: allowsPipe)
    }

    /// Reads the rest of an open file.
    private init(descriptor: CInt, bytesMax: Int, allowsPipe: Bool) throws(FileError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .failed(errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .isFolder }
        guard allowsPipe || status.st_mode & S_IFMT == S_IFREG else { throw .isNoFile }
        self.isReadableByAll = status.st_mode & S_IFMT == S_IFREG && status.st_mode & S_IROTH != 0
        self.bytes = try Self.read(descriptor, bytesMax)
    }

    /// Reads standard input to its end.
    package static func standardInput() throws(FileError) -> FileContent {
        try FileContent(descriptor: STDIN_FILENO, bytesMax: Self.bytesMax, allowsPipe: true)
    }

    private static func read(_ descriptor: CInt, _ bytesMax: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        // It may be a key's file.
        defer {
            unsafe piece.withUnsafeMutableBytes { memory in
                guard let start = memory.baseAddress else { return }
                unsafe explicit_bzero(start, memory.count)
            }
        }
        while true {
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            switch count {
            case 0: return bytes
            case 1...:
                guard bytes.count + count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
                bytes += piece[..<count]
            default: guard errno == EINTR else { throw .failed(errno) }
            }
        }
    }
}
