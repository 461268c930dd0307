import Foundation
import Testing
import WaymarkRigSockets

@Suite struct RunFolderTests {
    @Test func `a folder is its owner's alone, and gone after the run`() throws {
        let folder = try RunFolder()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        try Data("x".utf8).write(to: URL(filePath: folder.file("settings")))
        folder.remove()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `the paths of sockets are short enough in any temporary folder`() throws {
        let folder = try RunFolder(in: "/tmp/\(String(repeating: "a", count: 90))")
        defer { folder.remove() }
        #expect(folder.file("gateway.sock").utf8.count <= RunFolder.socketPathMax)
    }

    @Test func `a temporary folder that does not exist is an error with the folder and the reason`() {
        let error = #expect(throws: RunFolder.Failure.self) { try RunFolder(in: "/does-not-exist") }
        #expect(error?.description.hasPrefix("the folder /does-not-exist/waymark-rig-") == true)
        #expect(error?.description.hasSuffix(" cannot be made: no such file or directory") == true)
    }
}
