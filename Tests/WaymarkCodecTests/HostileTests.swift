import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Bodies that no honest peer sends. Reading them must end, quickly, with an answer.
@Suite struct HostileTests {
    /// What reading a body came to.
    private func read(
        _ type: MessageType, _ body: [UInt8], with decoder: BodyDecoder = BodyDecoder()
    ) -> Result<Envelope, DecodingError> {
        Result { () throws(DecodingError) in try decoder.decode(Frame(type, body: body)) }
    }

    private func rejection(_ result: Result<Envelope, DecodingError>) throws -> Rejection {
        guard case .failure(.rejected(let rejection)) = result else {
            throw Unexpected(description: "\(result)")
        }
        return rejection
    }

    private struct Unexpected: Error, CustomStringConvertible { let description: String }

    @Test(arguments: MessageType.allCases)
    func `a body cut at any byte is read or refused`(_ type: MessageType) {
        let decoder = BodyDecoder()
        var random = RandomValues(seed: 5)
        let body = Array(Codec.encode(random.envelope(type)).body.prefix(4_000))
        for count in 0..<body.count {
            if case .failure(.unknownType) = self.read(type, Array(body.prefix(count)), with: decoder) {
                Issue.record("\(type) is unknown at \(count) bytes")
            }
        }
    }

    @Test(arguments: MessageType.allCases)
    func `what is read of mutated bytes can be written and read again`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        var random = RandomValues(seed: UInt64(type.rawValue))
        var readable = 0
        for _ in 0..<100 {
            var body = Array(Codec.encode(random.envelope(type)).body)
            for _ in 0..<random.number(1...3) where !body.isEmpty { random.mutate(&body) }
            guard case .success(let envelope) = self.read(type, body, with: decoder) else { continue }
            readable += 1
            #expect(try decoder.decode(Codec.encode(envelope)).message == envelope.message)
        }
        #expect(readable > 0)
    }

    @Test(arguments: MessageType.allCases)
    func `random bytes are read or refused`(_ type: MessageType) {
        let decoder = BodyDecoder()
        var random = RandomValues(seed: UInt64(type.rawValue) + 1)
        for _ in 0..<300 {
            let body = random.list(0...200) { UInt8(truncatingIfNeeded: $0.next()) }
            if case .failure(.unknownType) = self.read(type, body, with: decoder) {
                Issue.record("unknown type")
            }
        }
    }

    @Test func `a mebibyte of empty sub-messages is refused at the first one too many`() throws {
        let body = [[UInt8]](repeating: [0x12, 0x00], count: 1 << 19).flatMap { $0 }
        // AddManeuvers: each is refused for its missing id.
        #expect(try self.rejection(self.read(.addManeuvers, body)).field == "maneuvers[0].id")
        let entries = [[UInt8]](repeating: [0x2A, 0x00], count: 1 << 19).flatMap { $0 }
        let waypoint = WireWriter.body {
            $0.text(1, "r")
            $0.bytes(2, entries)
        }
        let rejection = try self.rejection(self.read(.waypointRequest, waypoint))
        #expect(rejection.code == .outOfRange)
        #expect(rejection.field == "waypoint.entry_points[16]")
    }

    @Test func `a mebibyte of unknown fields is refused`() throws {
        let body = [[UInt8]](repeating: [0x78, 0x01], count: 1 << 19).flatMap { $0 }
        #expect(try self.rejection(self.read(.ping, body)).code == .limitReached)
    }

    @Test func `what would take too much memory is refused`() throws {
        // Empty packed chunks cost two bytes each here and dozens once unpacked.
        let body = [[UInt8]](repeating: [0x12, 0x00], count: 1 << 19).flatMap { $0 }
        let small = BodyDecoder(memoryBytesMax: 64 * 1_024)
        #expect(try self.rejection(self.read(.upcomingManeuvers, body, with: small)).code == .limitReached)
    }

    /// What the gateway takes, endpoints must be able to read, although it does not unpack it itself.
    @Test(arguments: MessageType.allCases.filter { MessageType.published.contains($0.rawValue) })
    func `an outline is refused for its memory exactly where the message is`(_ type: MessageType) {
        for bytesMax in [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144] {
            let decoder = BodyDecoder(memoryBytesMax: bytesMax)
            for seed in 0..<20 {
                var random = RandomValues(seed: UInt64(seed))
                let frame = Codec.encode(random.envelope(type))
                let outline = Result { () throws(DecodingError) in try decoder.outline(of: frame) }
                let decoded = Result { () throws(DecodingError) in try decoder.decode(frame) }
                switch (outline, decoded) {
                case (.success, .success): break
                case (.failure(let outline), .failure(let decoded)): #expect(outline == decoded)
                case (.success, .failure), (.failure, .success):
                    Issue.record("seed \(seed), \(bytesMax) bytes")
                }
            }
        }
    }

    @Test func `the outline of what would take too much memory is refused`() throws {
        let chunks = [[UInt8]](repeating: [0x12, 0x00], count: 1 << 19).flatMap { $0 }
        let frame = Frame(.upcomingManeuvers, body: chunks)
        let small = BodyDecoder(memoryBytesMax: 64 * 1_024)
        let error = #expect(throws: DecodingError.self) { try small.outline(of: frame) }
        guard case .rejected(let rejection) = error else {
            throw Unexpected(description: String(describing: error))
        }
        #expect(rejection.code == .limitReached)
    }

    @Test func `the budget is for one body, not for all`() throws {
        var random = RandomValues(seed: 9)
        let decoder = BodyDecoder(memoryBytesMax: 256 * 1_024)
        for _ in 0..<500 {
            let envelope = random.envelope(.waypointRequest)
            #expect(try decoder.decode(Codec.encode(envelope)) == envelope)
        }
    }

    @Test func `a hundred thousand levels of nesting are not followed`() {
        // In a field that some messages know, and in one that none does.
        for tag: UInt8 in [0x0A, 0x12, 0x7A] {
            let deep = Self.nested(levels: 100_000, tag: tag)
            for type in MessageType.allCases {
                if case .failure(.unknownType) = self.read(type, deep) { Issue.record("unknown type") }
            }
        }
    }

    /// `levels` of length-delimited fields inside each other.
    private static func nested(levels: Int, tag: UInt8) -> [UInt8] {
        var reversed: [UInt8] = []
        for _ in 0..<levels {
            reversed += WireWriter.body { $0.varint(UInt64(reversed.count)) }.reversed()
            reversed.append(tag)
        }
        return reversed.reversed()
    }

    @Test func `fields that this build does not know are passed over`() throws {
        let body = WireWriter.body {
            $0.number(1, 7)
            $0.number(500, 1)
            $0.text(501, "newer")
            $0.tag(502, 1)
            $0.bytes += [UInt8](repeating: 1, count: 8)
            $0.tag(503, 5)
            $0.bytes += [UInt8](repeating: 1, count: 4)
        }
        #expect(try self.read(.ping, body).get().message == .ping(nonce: 7))
    }

    @Test func `a field that is not repeated occurs once`() throws {
        let twice = WireWriter.body {
            $0.message(1) { $0.number(1, 1) }
            $0.message(1) { $0.number(1, 2) }
        }
        let rejection = try self.rejection(self.read(.updateTripEstimates, twice))
        #expect(rejection.code == .malformed)
        #expect(rejection.field == "travel_estimates")
    }

    @Test func `numbers wider than their field are refused, not cut`() throws {
        let wide = WireWriter.body { $0.number(1, 1 << 32 | 5) }
        #expect(try self.rejection(self.read(.sessionSuspended, wide)).field == "grace_milliseconds")
        let flag = WireWriter.body {
            $0.text(1, "r")
            $0.number(2, 2)
        }
        #expect(try self.rejection(self.read(.promptAnswer, flag)).field == "accepted")
        for tail: [UInt8] in [[0x02], [0x80, 0x01]] {
            let long = [0x08] + [UInt8](repeating: 0xFF, count: 9) + tail
            #expect(try self.rejection(self.read(.ping, long)).code == .malformed)
        }
        let widest = [0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x01]
        #expect(try self.read(.ping, widest).get().message == .ping(nonce: .max))
    }

    /// libprotobuf-c reads five bytes of a tag or a length; so an endpoint could not read what has more.
    @Test func `a tag or a length of more than five bytes is refused`() throws {
        func padded(_ value: UInt8, to count: Int) -> [UInt8] {
            [value | 0x80] + [UInt8](repeating: 0x80, count: count - 2) + [0x00]
        }
        let starts: [(MessageType, [UInt8], field: UInt8)] = [
            (.currentRoadName, [], 1 << 3 | 2), (.pauseGuidance, [1 << 3, 1], 2 << 3 | 2),
        ]
        for (type, start, field) in starts {
            for count in [5, 6] {
                for body in [padded(field, to: count) + [1, 0x41], [field] + padded(1, to: count) + [0x41]] {
                    let frame = Frame(type, body: start + body)
                    let outline = Result { () throws(DecodingError) in try Codec.outline(of: frame) }
                    switch self.read(type, start + body) {
                    case .success(let envelope):
                        #expect(count == 5)
                        guard case .publication(let publication) = envelope.message else {
                            throw Unexpected(description: "\(envelope)")
                        }
                        #expect(outline == .success(publication.outline))
                    case .failure(let error):
                        #expect(count == 6)
                        #expect(outline == .failure(error))
                    }
                }
            }
        }
    }

    @Test func `a wire type that does not fit is refused`() throws {
        let rejection = try self.rejection(self.read(.ping, WireWriter.body { $0.text(1, "x") }))
        #expect(rejection.code == .malformed)
        #expect(rejection.field == "nonce")
        for wireType: UInt64 in [3, 4, 6, 7] {
            let group = WireWriter.body { $0.tag(500, wireType) }
            #expect(try self.rejection(self.read(.ping, group)).code == .malformed)
        }
    }

    @Test(arguments: [[0xC3], [0xFF], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0x61, 0x00, 0x62]] as [[UInt8]])
    func `a text that is not UTF-8, or has a NUL, is refused`(_ text: [UInt8]) throws {
        let body = WireWriter.body {
            $0.text(1, "fine")
            $0.bytes(1, text)
        }
        let rejection = try self.rejection(self.read(.currentRoadName, body))
        #expect(rejection.code == .invalidText)
        #expect(rejection.field == "name_variants[1]")
    }

    /// Texts are looked at several bytes at a time; nothing escapes that wherever it is.
    @Test func `one byte that does not belong is found anywhere in a text of any length`() throws {
        let decoder = BodyDecoder()
        for count in 1...40 {
            for byte: UInt8 in [0x00, 0x80, 0xFF, 0x01, 0x7F] {
                for place in 0..<count {
                    // 0x80 and 0x01 on both sides are what carries and borrows could come from.
                    var text = [UInt8](repeating: count.isMultiple(of: 2) ? 0x01 : 0x7F, count: count)
                    text[place] = byte
                    let frame = Frame(.currentRoadName, body: WireWriter.body { $0.bytes(1, text) })
                    let isTaken =
                        Result { () throws(DecodingError) in try decoder.outline(of: frame) }
                        == .success(PublicationOutline(.currentRoadName))
                    #expect(isTaken == (byte == 0x01 || byte == 0x7F), "\(byte) at \(place) of \(count)")
                }
            }
        }
    }

    @Test func `lists of numbers are read packed and one by one`() throws {
        let body = WireWriter.body {
            $0.packed(2, [1, 2])
            $0.number(2, 3)
            $0.packed(2, [4])
        }
        let ids = [1, 2, 3, 4].map { ManeuverID(rawValue: $0) }
        #expect(
            try self.read(.upcomingManeuvers, body).get().message
                == .publication(.upcomingManeuvers(ids, generation: 0)))
    }

    @Test func `unknown types are told apart`() throws {
        let skippable = Frame(header: FrameHeader(type: 0x01F0, flags: .skippable), body: [1, 2, 3])
        #expect(throws: DecodingError.unknownType(isSkippable: true)) { try Codec.decode(skippable) }
        #expect(try Codec.outline(of: skippable) == PublicationOutline(unrecognized: skippable.header))
        let state = FrameHeader(type: 0x01F0, flags: [.skippable, .state, .retained], key: 3)
        #expect(
            try Codec.outline(of: Frame(header: state, body: [0xFF])).content
                == .unrecognizedState(type: 0x01F0, key: 3, isRetained: true))
        let needed = Frame(header: FrameHeader(type: 0x01F0), body: [1, 2, 3])
        #expect(throws: DecodingError.unknownType(isSkippable: false)) { try Codec.outline(of: needed) }
        #expect(throws: DecodingError.self) { try Codec.outline(of: Frame(.ping, body: [])) }
    }

    @Test func `codes of a newer peer have a reading`() throws {
        let goodbye = try self.read(.goodbye, WireWriter.body { $0.number(1, 99) }).get().message
        #expect(goodbye == .goodbye(Goodbye(.internalError)))
        let ended = try self.read(
            .sessionEnded,
            WireWriter.body {
                $0.number(1, 4)
                $0.number(2, 99)
            }
        ).get().message
        #expect(ended == .sessionEnded(SessionEnded(session: SessionID(4), reason: .unrecognized)))
        let cancel = try self.read(.cancelNavigation, WireWriter.body { $0.number(1, 99) }).get().message
        #expect(cancel == .cancelNavigation(.userStopped))
        let over = try self.read(
            .promptOver,
            WireWriter.body {
                $0.text(1, "r")
                $0.number(2, 99)
            }
        ).get().message
        #expect(over == .promptOver(PromptOver(requestID: "r", outcome: .invalid)))
        let error = try self.read(.error, WireWriter.body { $0.number(1, 99) }).get().message
        #expect(error == .error(Rejection(.inconsistent, reason: "")))
    }

    @Test func `values of a newer gateway have a reading`() throws {
        let changed = try self.read(
            .vehicleChanged,
            WireWriter.body {
                $0.message(1) {
                    $0.text(1, "v")
                    $0.number(2, 99)
                }
            }
        ).get().message
        let vehicle = VehicleID(unchecked: "v")
        #expect(changed == .vehicleChanged(VehicleStatus(vehicle: vehicle, standing: .awaited)))
        let shared = try self.read(
            .destinationShareStatus,
            WireWriter.body {
                $0.text(1, "s")
                $0.text(2, "v")
                $0.number(3, 99)
            }
        ).get().message
        let willShare = DestinationShareStatus(shareID: "s", vehicle: vehicle, stage: .willShare)
        #expect(shared == .destinationShareStatus(willShare))
        let welcomed = try self.read(
            .welcome,
            WireWriter.body {
                $0.number(1, 1)
                $0.bytes(5, .init(repeating: 1, count: 16))
                $0.message(7) {
                    $0.number(1, 4)
                    $0.number(3, 99)
                }
                $0.text(12, "g")
                $0.number(13, 1)
                $0.number(14, 99)
            }
        ).get().message
        guard case .welcome(let welcome) = welcomed else { throw Unexpected(description: "\(welcomed)") }
        #expect(welcome.sessions.map(\.phase) == [.active])
        #expect(welcome.visibility == nil)
    }

    @Test func `features of a newer peer are dropped`() throws {
        let body = WireWriter.body {
            $0.number(1, 2)
            $0.number(2, 2)
            $0.number(3, 2)
            $0.message(5) {
                $0.text(1, "c")
                $0.packed(2, [1, 60, 6])
            }
        }
        let expected = NavigationHello(
            client: ClientID(unchecked: "c"), features: [.maneuvers, .destinationSharing])
        #expect(try self.read(.hello, body).get().message == .hello(Hello(role: .navigation(expected))))
    }

    @Test func `a short alert is raised to what can be read`() throws {
        let body = WireWriter.body {
            $0.message(1) {
                $0.number(1, 1)
                $0.text(2, "x")
                $0.number(5, 10)
            }
        }
        guard case .publication(.showAlert(let alert)) = try self.read(.showAlert, body).get().message else {
            Issue.record("another message came back")
            return
        }
        #expect(alert.duration == .seconds(5))
    }
}

extension RandomValues {
    /// Changes, adds or takes away one byte.
    fileprivate mutating func mutate(_ bytes: inout [UInt8]) {
        let index = self.number(0...bytes.count - 1)
        switch self.next() % 4 {
        case 0: bytes[index] ^= 1 << UInt8(self.next() % 8)
        case 1: bytes[index] = UInt8(truncatingIfNeeded: self.next())
        case 2: bytes.insert(UInt8(truncatingIfNeeded: self.next()), at: index)
        default: bytes.remove(at: index)
        }
    }
}
