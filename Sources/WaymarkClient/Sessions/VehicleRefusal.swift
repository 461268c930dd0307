internal import WaymarkProtocol

/// The reason why a vehicle refuses a session.
public enum VehicleRefusal: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Another navigation client guides it.
    case busy
    /// It navigates itself and has not asked for guidance.
    case navigatesItself
    /// The gateway's limit of vehicles is reached.
    case limitReached
    /// The gateway's access rules do not allow this client to guide it.
    case notAuthorized
    /// A reason that this build does not know.
    case unrecognized

    /// The code, as the protocol names it.
    public var code: String {
        switch self {
        case .busy: "VEHICLE_BUSY"
        case .navigatesItself: "VEHICLE_NAVIGATES_ITSELF"
        case .limitReached: "LIMIT_REACHED"
        case .notAuthorized: "NOT_AUTHORIZED"
        case .unrecognized: "UNRECOGNIZED"
        }
    }

    /// The reason in words, for humans.
    public var description: String {
        switch self {
        case .busy: "another navigation client guides it"
        case .navigatesItself: "it navigates by itself"
        case .limitReached: "the gateway knows as many vehicles as it may"
        case .notAuthorized: "the gateway's access rules do not allow it"
        case .unrecognized: "for a reason that this version does not know"
        }
    }
}

extension VehicleRefusal {
    init(_ code: ErrorCode) {
        switch code {
        case .vehicleBusy: self = .busy
        case .vehicleNavigatesItself: self = .navigatesItself
        case .limitReached: self = .limitReached
        case .notAuthorized: self = .notAuthorized
        case .malformed, .invalidText, .outOfRange, .missing, .unknownReference, .duplicate, .wrongState,
            .staleGeneration, .sequenceGap, .unknownSession, .notGranted, .inconsistent, .ignored:
            self = .unrecognized
        }
    }
}

extension ClientError {
    /// Why `opening` was refused.
    init(_ rejection: Rejection, of opening: OpenSession) {
        // The field names the first vehicle, or nothing where the gateway has too many sessions.
        guard case .vehicles(let vehicles) = opening.vehicles, let first = vehicles.first,
            VehicleRefusal(rejection.code) != .unrecognized, !rejection.field.isEmpty
        else {
            self = ClientError(rejection)
            return
        }
        self = .vehicleRefused(
            vehicle: first.rawValue, VehicleRefusal(rejection.code), reason: rejection.reason)
    }
}
