#if Inspector
    import Foundation
    import Testing

    @testable import WaymarkCommandLine

    @Suite struct LinkFileTests {
        @Test func `only its owner and group can read the link`() throws {
            let file = FileManager.default.temporaryDirectory.appending(
                path: "link-\(UInt32.random(in: 0 ... .max))"
            ).path
            // One of before, that every user could read.
            try Data("old".utf8).write(to: URL(filePath: file))
            try Inspect.write("http://127.0.0.1:1/#token=x", to: file)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "http://127.0.0.1:1/#token=x\n")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o640)
            try FileManager.default.removeItem(atPath: file)
            #expect(throws: CommandFailure.self) { try Inspect.write("x", to: "/nonexistent/link") }
        }
    }
#endif
