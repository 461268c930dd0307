/// The reason why bytes could not be read as a routing engine's answer.
public enum RouteReadingError: Error, Sendable, Hashable {
    /// More bytes than the reader accepts.
    case tooLarge(bytes: Int, bytesMax: Int)
    /// The bytes are not JSON. Line and column, in bytes, count from 1.
    case notJSON(line: Int, column: Int, reason: String)
    /// JSON of no known engine. `found` describes it.
    case unknownFormat(found: String)
    /// The engine has no route. `message` is the engine's; `code` may be empty.
    case refusedByEngine(code: String, message: String)
    /// The answer is well formed but contains no route.
    case noRoute(path: String)
    /// A required member is absent or of the wrong kind.
    case missing(path: String, expected: String)
    /// A value is out of its range or contradicts another one.
    case invalid(path: String, reason: String)
}

extension RouteReadingError: CustomStringConvertible {
    /// The error and its location, for humans.
    public var description: String {
        switch self {
        case .tooLarge(let bytes, let bytesMax):
            "\(bytes) bytes are more than the \(bytesMax) that a route may have"
        case .notJSON(let line, let column, let reason): "not JSON: line \(line), column \(column): \(reason)"
        case .unknownFormat(let found):
            "not an answer of OSRM, Mapbox Directions, Valhalla or GraphHopper: \(found)"
        case .refusedByEngine("", let message): "the routing engine answered: \(message)"
        case .refusedByEngine(let code, let message): "the routing engine answered \(code): \(message)"
        case .noRoute(let path): "\(path): no route in the answer"
        case .missing(let path, let expected): "\(path): \(expected) is expected"
        case .invalid(let path, let reason): "\(path): \(reason)"
        }
    }
}
