/// Everything that is logged, in one place: what it says, and the id by which the journal finds it. systemd/waymark.catalog
/// explains each.
package enum LoggedEvent: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case listening
    case stopped
    case cannotStart = "cannot start"
    case tooFewDescriptors = "too few descriptors for all connections, taking fewer"
    case loopsDidNotStop = "event loops did not stop cleanly, ignoring"
    case managerNotReached = "the service manager was not reached, ignoring"
    case peersDidNotLeave = "some peers did not leave in time, closing their connections"
    case connectionCame = "a connection came"
    case peerAdmitted = "a peer was admitted"
    case peerLeft = "a peer has left"
    case sessionOpened = "a session was opened"
    case vehicleJoined = "a vehicle was taken into a session"
    case guidanceStarted = "guidance started"
    case guidancePaused = "guidance paused"
    case guidanceResumed = "guidance resumed"
    case guidanceRerouted = "guidance goes on along another route"
    case clientAway = "a client has vanished, keeping its session"
    case clientBack = "a client is back in its session"
    case vehicleLeft = "a vehicle left its session"
    case sessionEnded = "a session ended"
    case waypointRequested = "a vehicle asks for a stop on the way"
    case destinationRequested = "a vehicle asks for a drive"
    case requestEnded = "a request ended"
    case messageRefused = "refused a message"
    case connectionClosing = "closing a connection"
    case connectionEnded = "a connection ended"
    case peerSilent = "a peer is silent, closing its connection"
    case peerTooSlow = "a peer reads too slowly, closing its connection"
    case protocolBroken = "a peer broke the protocol, closing its connection"
    case peerRefused = "refused a peer"
    case programError = "closing a connection after an error of this program"
    case linesLeftOut = "left out further lines of a peer"

    /// The sentence, always the same, so that a log can be searched for it.
    package var description: String { self.rawValue }

    /// `MESSAGE_ID` of the journal: 32 hexadecimal digits, random once and never changed.
    package var messageID: String {
        switch self {
        case .listening: "2b7dcbc542bc410ea007f0e045eafc9b"
        case .stopped: "9024b0f0adfb41faafac4ba68a17ee7b"
        case .cannotStart: "4a39e102d6794d58b9f7d55a01f94936"
        case .tooFewDescriptors: "a9db39abf06e4a978971fca1c347b824"
        case .loopsDidNotStop: "bd07ba7feb30412fb146e703fd012bcf"
        case .managerNotReached: "c7179b55b1c34ae18a6f1c89df259d86"
        case .peersDidNotLeave: "416c895724a54f77913466e402bc2db2"
        case .connectionCame: "eab6aa8108544a1380424f64db78c7c8"
        case .peerAdmitted: "8ceeb10ebf2d49d087678a45bb0067eb"
        case .peerLeft: "3465078a9f0e46abb1f23c8072b50546"
        case .sessionOpened: "8137553a24344a9d827c1f88196171f6"
        case .vehicleJoined: "9cd72783659c45bf96d2acf47cb64dc6"
        case .guidanceStarted: "d14f57ed2e194e1788752fbba0bdb049"
        case .guidancePaused: "0bfe04484c53402bbf46f627920b0f29"
        case .guidanceResumed: "75d1df16ba78427daf90cc8523ae5c7e"
        case .guidanceRerouted: "253c125dc9e040b8abe30feb5962bda8"
        case .clientAway: "93b5a721a3a945119d27a5355112423a"
        case .clientBack: "c877e366729549e9b731ae5acea27856"
        case .vehicleLeft: "01095b3587fe46d89b078da5328fb959"
        case .sessionEnded: "34fb32fb999a40e7b5429ea9eb993c04"
        case .waypointRequested: "2c420db772704697ab5bfd2dbe474801"
        case .destinationRequested: "12509bb9caf14c57be70b135d6ed1403"
        case .requestEnded: "ed9eb7f2acaa47ecbcce4f2288786045"
        case .messageRefused: "9fa1eac9cee64184b20c1597914a85d9"
        case .connectionClosing: "6a00f9fdbf27464ab98b14b2da908021"
        case .connectionEnded: "9adbf2ee7b1348958a50c5ab1a7a97ea"
        case .peerSilent: "c385a2b373ce44acaf5da8198769f3f2"
        case .peerTooSlow: "48ab6bec9b9e420daed9e4338fe386b0"
        case .protocolBroken: "7c2680dee0cd4b039faadfe67b68d225"
        case .peerRefused: "679f39b687a64dd580cb5f0358b7389c"
        case .programError: "174daae944e24be1906d8800b905b864"
        case .linesLeftOut: "289af150c25243e6824d441df8497efc"
        }
    }
}
