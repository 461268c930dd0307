#if Inspector
    package import Foundation
    package import WaymarkClient
    package import WaymarkInspector
    package import WaymarkRecording
    package import ListeningSockets
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
            /// After a gateway was not there, or has ended the connection.
            package var retryTime = Duration.seconds(1)

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
            var actions = settings.actions
            actions?.isRedacted = settings.options.isRedacted
            let http = InspectorHTTP(
                desk, actions: actions.map { ActionDesk($0) }, actRefusal: refusal,
                files: settings.files, basemap: settings.basemap)
            let server = try await LoopbackServer.open(
                address, names: ["localhost"], InspectorResponder(http))
            return InspectorProgram(settings: settings, feed: feed, http: http, server: server)
        }

        /// What to open in a browser. The part behind `#` never leaves it.
        package var link: String { "\(self.server.address)/#token=\(self.http.token)" }

        /// Serves until its task is cancelled.
        ///
        /// `onGatewayLost` is called with the reason if the gateway has ended the connection for good; the page goes on. It connects
        /// again, until the gateway refuses that.
        ///
        /// `onNotReached` is called with the reason when there is nothing to connect to; once, until it changes.
        package func run(
            onGatewayLost: @escaping @Sendable (String) -> Void,
            onNotReached: @escaping @Sendable (String) -> Void = { _ in }
        ) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.server.run() }
                group.addTask { await self.http.desk.judgeRecordings() }
                if let feed, let actions = self.http.actions {
                    group.addTask { for await share in feed.endedShares { await actions.shareEnded(share) } }
                }
                if let feed, let gateway = self.settings.gateway {
                    group.addTask {
                        await Self.observe(
                            gateway, self.settings.observer, feed, retryTime: self.settings.retryTime,
                            onGatewayLost, onNotReached)
                    }
                }
                await group.waitForAll()
            }
            await self.http.actions?.close()
        }

        /// Observes a gateway until it refuses that, or until its task is cancelled. See ``run(onGatewayLost:)``.
        package static func observe(
            _ gateway: ServiceAddress, _ configuration: Observer.Configuration, _ feed: LiveFeed,
            retryTime: Duration, _ onGatewayLost: @Sendable (String) -> Void,
            _ onNotReached: @Sendable (String) -> Void = { _ in }
        ) async {
            var configuration = configuration
            (configuration.includesEvents, configuration.includesFrames) = (true, true)
            var told: String?
            while !Task.isCancelled {
                do throws(ClientError) {
                    guard let error = try await self.observeOnce(gateway, configuration, feed) else { return }
                    told = "\(error)"
                    onGatewayLost("\(error)")
                } catch {
                    feed.handle(.state(.closed(error)))
                    guard case .cannotConnect = error else {
                        if told != "\(error)" { onGatewayLost("\(error)") }
                        return
                    }
                    if told != "\(error)" { onNotReached("\(error)") }
                    told = "\(error)"
                }
                // The gateway is not there yet, or may take it back.
                do { try await Task.sleep(for: retryTime) } catch { return }
            }
        }

        /// Observes until the connection has ended for good.
        ///
        /// - Throws: Why the gateway cannot be observed.
        /// - Returns: Why the connection has ended; nil if this task was cancelled.
        private static func observeOnce(
            _ gateway: ServiceAddress, _ configuration: Observer.Configuration, _ feed: LiveFeed
        ) async throws(ClientError) -> ClientError? {
            let (endings, ending) = AsyncStream.makeStream(
                of: ClientError.self, bufferingPolicy: .bufferingOldest(1))
            let tap = try await ObservationTap.connect(to: gateway, configuration) { event in
                feed.handle(event)
                guard case .state(.closed(let error)) = event else { return }
                ending.yield(error)
                ending.finish()
            }
            let asking = Task { await self.keepAsking(tap, feed) }
            var reason: ClientError?
            for await error in endings where reason == nil { reason = error }
            asking.cancel()
            await tap.close()
            return reason
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
