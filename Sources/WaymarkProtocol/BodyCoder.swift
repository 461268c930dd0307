package import WaymarkModel

/// Decodes and encodes bodies for the gateway where an outline is not enough: for fitting, for prompts and for a handover.
///
/// Two coders are always equal, so that gateways can be compared.
package struct BodyCoder: Sendable, Hashable {
    /// The full content of a published frame that was checked before; nil for a type this build does not know.
    package let decode: @Sendable (Frame) -> Publication?
    package let encode: @Sendable (Envelope) -> Frame
    /// The waypoint or destination of a request that the codec has checked; nil if it cannot be decoded.
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
