// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// A state on which nothing else depends: only its newest value matters, and it is shown as it is.
public enum PlainState: Sendable, Hashable {
    /// The road the vehicle is on.
    case currentRoadName([String])
}

/// The newest value of each state on which nothing else depends.
public struct PlainStates: Sendable, Hashable {
    /// The road the vehicle is on. Longest first; empty: not known.
    public var currentRoadName: [String] = []

    /// Nothing is known.
    public init() {}

    /// One state is known.
    public init(_ state: PlainState) { self.apply(state) }

    /// Takes over the values of a state.
    public mutating func apply(_ state: PlainState) {
        switch state {
        case .currentRoadName(let currentRoadName):
            self.currentRoadName = currentRoadName
        }
    }
}
