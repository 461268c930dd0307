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
