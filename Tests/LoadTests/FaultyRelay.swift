import Foundation
import WaymarkProtocol

/// A relay for one publisher and one endpoint that handles the tenth message wrong.
final class FaultyRelay: Sendable {
    enum Fault: Sendable, CaseIterable { case none, loses, swaps, changes }

    struct Failure: Error {}

    private let folder: Folder
    private let listener: CInt

    var path: String { "\(self.folder.path)/socket" }

    init(_ fault: Fault) throws {
        self.folder = try Folder()
        self.listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: "\(self.folder.path)/socket".utf8) }
        let bound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(self.listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(self.listener, 2) == 0 else { throw Failure() }
        let listener = self.listener
        Thread.detachNewThread { Self.serve(listener, fault) }
    }

    deinit { close(self.listener) }

    private static func serve(_ listener: CInt, _ fault: Fault) {
        let publisher = Self.welcome(listener)
        let endpoint = Self.welcome(listener)
        defer {
            close(publisher)
            close(endpoint)
        }
        var number = 0
        var kept: [UInt8] = []
        while var frame = Self.frame(from: publisher) {
            number += 1
            if number == 10 {
                switch fault {
                case .none: break
                case .loses: continue
                case .changes: frame[frame.count - 1] ^= 1
                case .swaps:
                    kept = frame
                    continue
                }
            }
            Self.write(frame + kept, to: endpoint)
            kept = []
        }
    }

    /// Accepts a connection and reads its Hello.
    private static func welcome(_ listener: CInt) -> CInt {
        let descriptor = accept(listener, nil, nil)
        _ = Self.frame(from: descriptor)
        var bytes: [UInt8] = []
        FrameHeader(type: MessageType.welcome.rawValue).write(to: &bytes)
        Self.write(bytes, to: descriptor)
        return descriptor
    }

    private static func frame(from descriptor: CInt) -> [UInt8]? {
        guard let header = Self.read(FrameHeader.byteCount, from: descriptor) else { return nil }
        let length = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
        return Self.read(length, from: descriptor).map { header + $0 }
    }

    private static func read(_ count: Int, from descriptor: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count
            ? bytes : nil
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
