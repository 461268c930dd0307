#if Inspector
    import Glibc
    import NIOPosix
    import Testing
    import WaymarkCodec
    import WaymarkExporter
    import WaymarkModel
    import WaymarkProtocol

    /// A peer that sends any messages, reads only when the test says so, and counts the bytes of both directions.
    final class RawPeer {
        let descriptor: CInt
        private(set) var sentByteCount = 0
        private(set) var receivedByteCount = 0
        private var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        private var isAtEnd = false

        struct Failure: Error { let reason: String }

        init(_ path: String) throws {
            self.descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result == 0 else { throw Failure(reason: "connect: errno \(errno)") }
        }

        deinit { Glibc.close(self.descriptor) }

        /// Ends the connection without a Goodbye.
        func cut() { shutdown(self.descriptor, CInt(SHUT_RDWR)) }

        // MARK: Sending

        func send(_ bytes: some Collection<UInt8>) throws {
            let bytes = Array(bytes)
            guard Glibc.send(self.descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
            else { throw Failure(reason: "send: errno \(errno)") }
            self.sentByteCount += bytes.count
        }

        func send(_ message: Message, session: SessionID = .none, sequence: UInt64 = 0) throws {
            try self.send(Codec.encode(Envelope(message, session: session, sequence: sequence)).bytes)
        }

        /// A publication with a body that is no message.
        func sendBadPublication(_ session: SessionID, _ sequence: UInt64) throws {
            let header = FrameHeader(type: 0x0108, session: session, sequence: sequence)
            try self.send(Frame(header: header, body: [0xFF, 0xFF]).bytes)
        }

        // MARK: Receiving

        /// Reads what has arrived, or waits for it. Empty at the end.
        func read() async throws -> [UInt8] {
            // On the thread pool, since waiting blocks a thread and the tests' own pool is small.
            let bytes = try await NIOThreadPool.singleton.runIfActive { [descriptor] in
                var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard Glibc.poll(&poll, 1, 60_000) > 0 else { throw Failure(reason: "nothing arrives") }
                var bytes = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                guard count >= 0 else { throw Failure(reason: "recv: errno \(errno)") }
                return Array(bytes[..<count])
            }
            self.isAtEnd = bytes.isEmpty
            self.receivedByteCount += bytes.count
            return bytes
        }

        /// The next message; nil at the end.
        func receive() async throws -> Envelope? {
            while true {
                if let frame = try self.splitter.next() { return try Codec.decode(frame) }
                if self.isAtEnd { return nil }
                self.splitter.append(try await self.read())
            }
        }

        /// All messages until the end.
        func receiveAll() async throws -> [Message] {
            var messages: [Message] = []
            while let envelope = try await self.receive() { messages.append(envelope.message) }
            return messages
        }

        /// The messages up to the first for which `isLast` holds.
        @discardableResult
        func receive(upTo isLast: (Message) -> Bool) async throws -> [Message] {
            var messages: [Message] = []
            while let envelope = try await self.receive() {
                messages.append(envelope.message)
                if isLast(envelope.message) { return messages }
            }
            throw Failure(reason: "the end after \(messages.last.map { "\($0)" } ?? "nothing")")
        }

        /// Skips messages until `choose` returns a value.
        func first<Value>(_ choose: (Message) -> Value?) async throws -> Value {
            while let envelope = try await self.receive() {
                if let value = choose(envelope.message) { return value }
            }
            throw Failure(reason: "the end")
        }

        // MARK: What peers say

        func welcome(_ hello: Hello) async throws -> Welcome {
            try self.send(.hello(hello))
            return try await self.first { if case .welcome(let welcome) = $0 { welcome } else { nil } }
        }

        /// Leaves with a Goodbye, and reads until the gateway closes, too.
        func leave() async throws -> [Message] {
            try self.send(.goodbye(Goodbye(.normal)))
            return try await self.receiveAll()
        }

        func goodbye() async throws -> CloseCode {
            try await self.first { if case .goodbye(let goodbye) = $0 { goodbye.code } else { nil } }
        }

        func openSession(_ vehicles: [String]) async throws -> SessionID {
            let ids = vehicles.map { VehicleID(unchecked: $0) }
            try self.send(.openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))))
            return try await self.first {
                if case .sessionOpened(let opened) = $0 { opened.session } else { nil }
            }
        }

        func publish(_ publication: Publication, _ session: SessionID, _ sequence: UInt64) throws {
            try self.send(.publication(publication), session: session, sequence: sequence)
        }

        /// The counters at their place among what an observer is told, as the exporter serves them, and what came before.
        func scrape() async throws -> (metrics: ParsedMetrics, before: [Message]) {
            try self.send(.readCounters(ReadCounters()))
            var messages: [Message] = []
            while let envelope = try await self.receive() {
                guard case .counters(let report) = envelope.message else {
                    messages.append(envelope.message)
                    continue
                }
                let families = GatewayMetrics.families(of: reading(report.counters))
                return (try ParsedMetrics(MetricFormat.text.text(families), .text), messages)
            }
            throw Failure(reason: "the end")
        }
    }

    extension Hello {
        static func endpoint(
            _ vehicle: String, _ endpoint: String = "cluster", features: Set<Feature> = Set(Feature.allCases)
        ) -> Hello {
            Hello(
                role: .vehicle(
                    VehicleHello(
                        vehicle: VehicleID(unchecked: vehicle), endpoint: EndpointName(unchecked: endpoint),
                        features: features)))
        }

        static func client(_ id: String) -> Hello {
            Hello(
                role: .navigation(
                    NavigationHello(client: ClientID(unchecked: id), features: Set(Feature.allCases))))
        }

        static func observer(_ name: String) -> Hello {
            Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: name))))
        }

        func resuming(_ token: ResumptionToken) -> Hello {
            var hello = self
            hello.resumptionToken = token
            return hello
        }
    }

    extension Publication {
        /// The beginning of guidance.
        static let start = {
            let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
            return startGuidance(Trip(id: "t", origin: place, destination: place), generation: 1, .init())
        }()
    }
#endif
