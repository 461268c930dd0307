#if Inspector
    import Foundation
    import Testing

    @testable import WaymarkCommandLine

    /// `waymark inspect --open`.
    @Suite(.timeLimit(.minutes(2))) struct OpenBrowserTests {
        private static let link = "http://127.0.0.1:1/#token=Secret"

        private static func newFolder() throws -> URL {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "open-\(UInt32.random(in: 0 ... .max))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }

        private static func content(_ folder: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
        }

        @Test func `the browser is led to the page by a private file, and its arguments have no secret`()
            async throws
        {
            let (folder, tools) = (try Self.newFolder(), try Self.newFolder())
            let browser = tools.appending(path: "browser")
            // The last file is complete when it is there.
            let script = """
                #!/bin/sh
                printf '%s\\n' "$#" "$@" > \(tools.path)/arguments
                stat -c %a "$(dirname "$1")" > \(tools.path)/mode
                cat "$1" > \(tools.path)/part
                mv \(tools.path)/part \(tools.path)/page

                """
            try Data(script.utf8).write(to: browser)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser.path)
            let remove = Inspect.openBrowser(Self.link, with: browser.path, in: folder) {
                Issue.record("\($0)")
            }
            while !FileManager.default.fileExists(atPath: "\(tools.path)/page") {
                try Task.checkCancellation()
                await Task.yield()
            }
            func said(_ file: String) throws -> String {
                try String(contentsOf: tools.appending(path: file), encoding: .utf8)
            }
            let arguments = try said("arguments").split(separator: "\n")
            #expect(arguments.count == 2 && arguments.first == "1")
            #expect(arguments.last?.hasPrefix(folder.path) == true)
            #expect(arguments.last?.contains("Secret") == false)
            #expect(try said("mode") == "700\n")
            #expect(try said("page").contains("url=\(Self.link)\""))
            #expect(try Self.content(folder).count == 1)
            remove()
            #expect(try Self.content(folder).isEmpty)
            for folder in [folder, tools] { try FileManager.default.removeItem(at: folder) }
        }

        @Test func `without a browser there is a message, and nothing stays`() throws {
            let folder = try Self.newFolder()
            var notes: [String] = []
            let remove = Inspect.openBrowser(Self.link, with: "/nonexistent/xdg-open", in: folder) {
                notes.append($0)
            }
            #expect(notes.count == 1)
            #expect(notes.first?.hasSuffix("open the link by hand") == true)
            #expect(notes.first?.contains("Secret") == false)
            remove()
            #expect(try Self.content(folder).isEmpty)
            try FileManager.default.removeItem(at: folder)
        }
    }
#endif
