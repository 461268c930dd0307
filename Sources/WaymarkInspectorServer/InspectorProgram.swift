#if Inspector
    package import Foundation
    package import WaymarkClient
    package import WaymarkInspector
    package import WaymarkRecording
    package import WaymarkTransport
    package import WaymarkWeb

    /// `waymark inspect`: an observer of a gateway, or recordings, and a page for a browser of this machine.
    package struct InspectorProgram: Sendable {
        package struct Settings: Sendable {
            /// The gateway's socket for observers; nil: only recordings are inspected.
            package var gateway: ServiceAddress?
            package var observer = Observer.Configuration(id: "waymark-inspect")
            package var recordings: [(name: String, recording: Recording)] = []
            /// nil: nothing can be done from the page.
            package var actions: ActionDesk.Settings?
            package var options = Inspection.Options()
            package var files = PageFiles()
            package var basemap: Data?

            package init() {}
        }

        private let settings: Settings
        private let feed: LiveFeed?
        private let http: InspectorHTTP
        private let server: LoopbackServer

        /// Opens the server. Throws if its address is taken.
        package static func open(
            _ address: LoopbackAddress, _ settings: Settings
        ) async throws(ListenerError) -> InspectorProgram {
            let feed = settings.gateway.map { LiveFeed("\($0)", isRedacted: settings.options.isRedacted) }
            var options = settings.options
            var refusal = "started without --act"
            if settings.gateway == nil { refusal = "recordings cannot be spoken to" }
            options.actRefusal = settings.actions == nil ? refusal : nil
            options.hasBasemap = settings.basemap != nil
            let desk = InspectorDesk(options, feed: feed, recordings: settings.recordings)
            let http = InspectorHTTP(
                desk, actions: settings.actions.map { ActionDesk($0) }, actRefusal: refusal,
                files: settings.files, basemap: settings.basemap)
            let server = try await LoopbackServer.open(
                address, names: ["localhost"], InspectorResponder(http))
            return InspectorProgram(settings: settings, feed: feed, http: http, server: server)
        }

        /// What to open in a browser. The part behind `#` never leaves it.
        package var link: String { "\(self.server.address)/#token=\(self.http.token)" }

        /// Serves until its task is cancelled.
        ///
        /// `onGatewayLost` is called with the reason if the connection to the gateway has ended for good; the page goes on.
        package func run(onGatewayLost: @escaping @Sendable (String) -> Void) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.server.run() }
                group.addTask { await self.http.desk.judgeRecordings() }
                if let feed, let gateway = self.settings.gateway {
                    group.addTask {
                        await Self.observe(gateway, self.settings.observer, feed, onGatewayLost)
                    }
                }
                await group.waitForAll()
            }
            await self.http.actions?.close()
        }

        private static func observe(
            _ gateway: ServiceAddress, _ configuration: Observer.Configuration, _ feed: LiveFeed,
            _ onGatewayLost: @Sendable (String) -> Void
        ) async {
            var configuration = configuration
            (configuration.includesEvents, configuration.includesFrames) = (true, true)
            while !Task.isCancelled {
                do throws(ClientError) {
                    let tap = try await ObservationTap.connect(to: gateway, configuration) { feed.handle($0) }
                    await self.keepAsking(tap, feed)
                    await tap.close()
                    return
                } catch {
                    feed.handle(.state(.closed(error)))
                    guard case .cannotConnect = error else { return onGatewayLost("\(error)") }
                }
                // The gateway is not there yet.
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
            }
        }

        /// Asks what waits, and gives rules time, every second.
        private static func keepAsking(_ tap: ObservationTap, _ feed: LiveFeed) async {
            while true {
                await tap.readMeasures()
                feed.advance()
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
            }
        }
    }
#endif
