internal import WaymarkCodec
package import WaymarkGuidance
package import WaymarkModel
package import WaymarkProtocol

/// What peers of a run do wrong, on purpose: functions between a peer and its link. nil: nothing. No source is patched.
package struct RunMutations: Sendable {
    /// Changes what clients want.
    package var client: ActionMutation.Change?
    /// Changes what endpoints of vehicles learn and do.
    package var vehicle: (@Sendable (RigVehicle.Output) -> [RigVehicle.Output])?
    /// Changes the frames of clients.
    package var clientFrames: FrameMutation?
    /// Changes the frames of endpoints of vehicles.
    package var vehicleFrames: FrameMutation?

    package init() {}
}

/// What a faulty peer remembers.
package struct MutationMemory: Sendable {
    /// When it sends or reads.
    package var now = Instant(nanoseconds: 0)
    package var count = 0
    package var isOn = false
    package var publications: [Publication] = []
    package var maneuvers: [ManeuverID] = []
    package var estimates: TravelEstimates?
    package var envelopes: [Envelope] = []
    package init() {}
}

/// Changes what a simulated client wants, as a faulty one would.
package struct ActionMutation: Sendable {
    /// What is done in place of an action.
    package typealias Change =
        @Sendable (_ action: GuideMachine.Action, _ memory: inout MutationMemory) -> [GuideMachine.Action]

    private let change: Change
    private var memory = MutationMemory()

    package init(_ change: @escaping Change) { self.change = change }

    mutating func callAsFunction(_ action: GuideMachine.Action, at now: Instant) -> [GuideMachine.Action] {
        self.memory.now = now
        return self.change(action, &self.memory)
    }
}

/// Changes what a peer sends and reads, frame by frame, as a faulty one would.
package struct FrameMutation: Sendable {
    /// What is sent in place of a message.
    package typealias Sending = @Sendable (_ sent: Envelope, _ memory: inout MutationMemory) -> [Envelope]
    /// What the peer reads in place of a message, and what it sends because of it.
    package typealias Reading =
        @Sendable (_ read: Envelope, _ memory: inout MutationMemory) -> (read: [Envelope], sent: [Envelope])

    private let sending: Sending?
    private let reading: Reading?
    private var memory = MutationMemory()
    private var sent = FrameSplitter(frameBytesMax: .max)
    private var read = FrameSplitter(frameBytesMax: .max)

    package init(sending: Sending? = nil, reading: Reading? = nil) {
        (self.sending, self.reading) = (sending, reading)
    }

    /// A connection begins. What the peer remembers stays.
    mutating func connect() {
        self.sent = FrameSplitter(frameBytesMax: .max)
        self.read = FrameSplitter(frameBytesMax: .max)
    }

    /// What is written in place of `bytes`.
    mutating func send(_ bytes: [UInt8], at now: Instant) -> [UInt8] {
        guard let sending else { return bytes }
        self.memory.now = now
        self.sent.append(bytes)
        var changed: [UInt8] = []
        while let frame = Self.next(&self.sent) {
            changed += Self.bytes(frame) { sending($0, &self.memory) }
        }
        return changed
    }

    /// What the peer reads in place of `bytes`, in whole frames, and what it writes because of them.
    mutating func receive(_ bytes: [UInt8], at now: Instant) -> (read: [UInt8], sent: [UInt8]) {
        guard let reading else { return (bytes, []) }
        self.memory.now = now
        self.read.append(bytes)
        var (changed, replies): ([UInt8], [UInt8]) = ([], [])
        while let frame = Self.next(&self.read) {
            changed += Self.bytes(frame) { envelope in
                let answer = reading(envelope, &self.memory)
                for reply in answer.sent { replies += Codec.encode(reply).bytes }
                return answer.read
            }
        }
        return (changed, replies)
    }

    private static func next(_ splitter: inout FrameSplitter) -> Frame? {
        do throws(FramingError) { return try splitter.next() } catch { return nil }
    }

    /// A frame that says the same keeps its bytes, and so does one that cannot be decoded.
    private static func bytes(_ frame: Frame, _ change: (Envelope) -> [Envelope]) -> [UInt8] {
        let envelope: Envelope
        do throws(DecodingError) { envelope = try Codec.decode(frame) } catch { return Array(frame.bytes) }
        let changed = change(envelope)
        return changed == [envelope] ? Array(frame.bytes) : changed.flatMap { Codec.encode($0).bytes }
    }
}
