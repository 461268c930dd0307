#if Inspector
    package import ArgumentParser
    internal import Foundation
    internal import ProcessIO
    internal import WaymarkClient
    internal import WaymarkInspector
    internal import WaymarkInspectorServer
    internal import WaymarkRecording
    internal import ListeningSockets
    internal import WaymarkWeb

    package struct Inspect: AsyncParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Show everything that vehicles are told, on a page in a browser of this machine.",
            usage: "waymark inspect [<options>] [<recording> ...]",
            discussion: """
                Observes a gateway, or shows recordings, and prints a link to a page. The page is served on the loopback \
                address only; the link has a secret that the server asks for. It is read-only unless --act is given: then \
                vehicles can be spoken for, through an endpoint of their own that shows nothing.

                To look at it from another machine, forward the port: `ssh -L 8787:127.0.0.1:8787 HOST`.
                """)

        @Argument(help: "Recordings, at most 2.", completion: .file(extensions: ["mcap"]))
        var recordings: [String] = []
        @OptionGroup var connection: ConnectionOptions
        @Option(
            help: "Where the page is served: 127.0.0.1:PORT or [::1]:PORT; port 0 lets the system choose.")
        var listen = "127.0.0.1:8787"
        @Flag(help: "Open the page in the browser of this user.") var open = false
        @Option(
            help: "Write the link to this file, for its owner and group, and do not print it.",
            completion: .file())
        var linkFile: String?
        @Flag(help: "Let the page speak for vehicles: requests, answers, settings.") var act = false
        @Option(help: "With --act: where the gateway listens for vehicles, as --connect.") var vehicleAddress:
            String?
        @Option(help: "With `places`: places and texts are removed from everything that the page gets.")
        var redact: String?
        @Option(
            help: "A GeoJSON file that the map shows below the route.",
            completion: .file(extensions: ["geojson"]))
        var basemap: String?

        package init() {}

        package func validate() throws {
            if let redact, redact != "places" { throw ValidationError("--redact can be `places` only") }
            guard self.recordings.count <= 2 else {
                throw ValidationError("at most 2 recordings can be compared")
            }
            if self.act, !self.recordings.isEmpty, self.connection.connect == nil {
                throw ValidationError("--act needs a gateway: recordings cannot be spoken to")
            }
            if self.vehicleAddress != nil, !self.act {
                throw ValidationError("--vehicle-address needs --act")
            }
            _ = try self.address()
        }

        private func address() throws -> LoopbackAddress {
            let address: LoopbackAddress
            do throws(LoopbackAddressError) { address = try LoopbackAddress(self.listen) } catch {
                throw self.refusal
            }
            guard case .tcp = address.address else { throw self.refusal }
            return address
        }

        /// Of an address at which the page cannot be served.
        private var refusal: ValidationError {
            ValidationError(
                """
                --listen \(Terminal.printable(self.listen)): the page is for browsers of this machine: 127.0.0.1:PORT or [::1]:PORT. \
                From another machine, `ssh -L 8787:127.0.0.1:8787 HOST` leads there
                """)
        }

        package func run() async throws {
            let (settings, address) = (try self.settings(), try self.address())
            let program: InspectorProgram
            do throws(ListenerError) { program = try await .open(address, settings) } catch {
                throw CommandFailure("the page cannot be served: \(error)")
            }
            if let linkFile { try Self.write(program.link, to: linkFile) }
            // The secret in it is good for nothing from then on.
            defer { if let linkFile { unsafe unlink(linkFile) } }
            let openedFile = self.open ? Self.openBrowser(program.link) : nil
            let removeFile: @Sendable () -> Void = { openedFile?() }
            defer { removeFile() }
            let lastStep: @Sendable () -> Void = { [linkFile] in
                if let linkFile { unsafe unlink(linkFile) }
                removeFile()
            }
            // It ends only so: that is no failure.
            try await interruptible(harmless: [130, 143], lastStep: lastStep) { [linkFile] in
                Terminal.line(
                    linkFile.map { "the link to the page is in \(Terminal.printable($0))" } ?? program.link)
                await program.run { reason in
                    Terminal.note(
                        "the gateway is not observed any more: \(reason); the page shows what was known")
                } onNotReached: { reason in
                    Terminal.note("\(reason); the page shows it as soon as it is there")
                }
            }
        }

        /// With the page's files and the profiles that ship.
        private static var shipped: InspectorProgram.Settings {
            var settings = InspectorProgram.Settings()
            settings.files = PageFiles(folder: PageResources.folder)
            for name in Resources.profileNames { settings.options.profiles[name] = Resources.profile(name) }
            return settings
        }

        /// Opens a page on a gateway, at a port that the system chooses, that may speak for vehicles.
        static func open(
            observing gateway: ServiceAddress, speakingTo vehicles: ServiceAddress
        ) async throws -> InspectorProgram {
            var settings = Self.shipped
            settings.gateway = gateway
            var actions = ActionDesk.Settings()
            (actions.address, actions.endpoint) = (vehicles, "inspector-demo")
            settings.actions = actions
            let address = try LoopbackAddress("127.0.0.1:0")
            do throws(ListenerError) { return try await .open(address, settings) } catch {
                throw CommandFailure("the page cannot be served: \(error)")
            }
        }

        private func settings() throws -> InspectorProgram.Settings {
            var settings = Self.shipped
            settings.options.isRedacted = self.redact != nil
            for file in self.recordings {
                do throws(RecordingError) {
                    let name = URL(filePath: file).lastPathComponent
                    settings.recordings.append((name, try Recording(try FileSource(path: file))))
                } catch {
                    throw CommandFailure("\(file) cannot be read: \(error)")
                }
            }
            if let basemap { settings.basemap = try Self.basemap(basemap) }
            guard self.recordings.isEmpty || self.connection.connect != nil else { return settings }
            settings.gateway = try self.connection.address(default: .defaultObserver)
            settings.observer.credential = try self.connection.key()
            settings.observer.displayName = "waymark inspect"
            if self.act { settings.actions = try self.actions() }
            return settings
        }

        private func actions() throws -> ActionDesk.Settings {
            var actions = ActionDesk.Settings()
            actions.endpoint = "inspector-\(ProcessInfo.processInfo.processIdentifier)"
            actions.credential = try self.connection.key()
            if let vehicleAddress {
                guard let address = ServiceAddress(vehicleAddress) else {
                    throw ValidationError(
                        "--vehicle-address \(vehicleAddress) is not an address; use tcp:HOST:PORT or unix:/path"
                    )
                }
                actions.address = address
            }
            return actions
        }

        private static let basemapBytesMax = 4_194_304

        private static func basemap(_ file: String) throws -> Data {
            let content: FileContent
            do throws(FileError) { content = try FileContent(path: file) } catch {
                throw CommandFailure("\(file) cannot be read: \(error)")
            }
            guard content.bytes.count <= self.basemapBytesMax else {
                throw CommandFailure("\(file) is larger than 4 MiB")
            }
            let data = Data(content.bytes)
            do { _ = try JSONSerialization.jsonObject(with: data) } catch {
                throw CommandFailure("\(file) is not GeoJSON")
            }
            return data
        }

        /// Replaces the file by one that only its owner can write, and only its group can read.
        static func write(_ link: String, to file: String) throws {
            unsafe unlink(file)
            let descriptor = unsafe Foundation.open(
                file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw CommandFailure("\(file) cannot be written: \(SystemError.reason(errno))")
            }
            fchmod(descriptor, 0o640)
            let written = WrittenFile(owning: descriptor)
            do throws(WriteError) {
                try written.append(Array("\(link)\n".utf8))
                try written.close()
            } catch {
                unsafe unlink(file)
                throw CommandFailure("\(file) cannot be written: \(error)")
            }
        }

        /// Opens the link in a browser. Says so if there is none; the link was printed.
        ///
        /// The link has a secret, and every user can read the arguments of programs. So the browser is told a private file that leads there.
        ///
        /// - Parameters:
        ///   - link: With its secret.
        ///   - program: What opens the file.
        ///   - parent: Where the folder of the file is created.
        ///   - note: Told if no browser can be opened.
        /// - Returns: What removes that file.
        static func openBrowser(
            _ link: String, with program: String = "/usr/bin/xdg-open",
            in parent: URL = FileManager.default.temporaryDirectory,
            note: (String) -> Void = { Terminal.note($0) }
        ) -> @Sendable () -> Void {
            let folder = parent.appending(path: "waymark-inspect-\(UInt64.random(in: 0 ... .max))")
            let file = folder.appending(path: "open.html")
            let remove: @Sendable () -> Void = {
                do { try FileManager.default.removeItem(at: folder) } catch { /* The system clears it. */  }
            }
            let leads = #"<meta http-equiv="refresh" content="0; url=\#(link)">"#
            let text = "<!DOCTYPE html><title>waymark inspect</title>\(leads)"
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                try WrittenFile.write(Array("\(text)\n".utf8), to: file.path, isNew: true)
                _ = try ChildProcess(
                    .init(words: [program, file.path], leavesProcesses: true), onExit: { _ in })
            } catch {
                note("no browser can be opened: \(CommandFailure.reason(error)); open the link by hand")
            }
            return remove
        }
    }
#endif
