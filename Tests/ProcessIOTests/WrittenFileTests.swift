import Foundation
import ProcessIO
import Testing

@Suite struct WrittenFileTests {
    private static func newPath() -> String {
        FileManager.default.temporaryDirectory.appending(path: "written-\(UInt32.random(in: 0 ... .max))")
            .path
    }

    private static let text = Array("a text\n".utf8)

    @Test func `a file has what was appended, in place of what was there`() throws {
        let path = Self.newPath()
        try WrittenFile.write(Array("an older and longer text\n".utf8), to: path)
        let file = try WrittenFile(path)
        for _ in 0..<2 { try file.append(Self.text) }
        try file.close()
        #expect(try FileContent(path: path).bytes == Self.text + Self.text)
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func `a full disk and a folder that is not there are errors in the system's words`() {
        #expect(throws: WriteError.failed(ENOSPC)) { try WrittenFile.write(Self.text, to: "/dev/full") }
        #expect("\(WriteError.failed(ENOSPC))" == "no space left on device")
        #expect(throws: WriteError.failed(ENOENT)) { try WrittenFile.write(Self.text, to: "/nonexistent/x") }
    }

    @Test func `a file that must be new is not written where there is one`() throws {
        let path = Self.newPath()
        try WrittenFile.write(Self.text, to: path, isNew: true)
        #expect(throws: WriteError.failed(EEXIST)) {
            try WrittenFile.write([], to: path, isNew: true)
        }
        #expect(try FileContent(path: path).bytes == Self.text)
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func `nothing is appended to a file that is closed`() throws {
        let file = try WrittenFile("/dev/null")
        try file.close()
        try file.close()
        #expect(throws: WriteError.failed(EBADF)) { try file.append(Self.text) }
    }
}
