package import WaymarkModel

/// How bodies are read and written, where the gateway must know more of them, or say more, than it is handed. Two coders are always
/// equal.
package struct BodyCoder: Sendable, Hashable {
    /// The full content of a published frame that was checked before; nil for a type this build does not know.
    package let decode: @Sendable (Frame) -> Publication?
    package let encode: @Sendable (Envelope) -> Frame
    /// The place that a request asks for; nil if it was not checked before.
    package let waypoint: @Sendable (ReceivedRequest) -> Waypoint?

    package init(
        decode: @escaping @Sendable (Frame) -> Publication?,
        encode: @escaping @Sendable (Envelope) -> Frame,
        waypoint: @escaping @Sendable (ReceivedRequest) -> Waypoint?
    ) {
        self.decode = decode
        self.encode = encode
        self.waypoint = waypoint
    }

    package static func == (lhs: BodyCoder, rhs: BodyCoder) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
