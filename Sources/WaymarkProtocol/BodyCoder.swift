package import WaymarkModel

/// Decodes and encodes bodies for the gateway where an outline is not enough: for fitting, for prompts and for a handover.
///
/// Two coders are always equal, so that gateways can be compared.
package struct BodyCoder: Sendable, Hashable {
    /// The full content of a published frame that was checked before; nil for a type this build does not know.
    package let decode: @Sendable (Frame) -> DecodedPublication?
    package let encode: @Sendable (Envelope) -> Frame
    /// The number of maneuvers, lane guidances or segments that a publication adds, from an index on, and that take at most so many bytes in
    /// its frame, and the bytes that these take; none of other publications.
    package let elementsFitting: @Sendable (Publication, Int, Int) -> (count: Int, byteCount: Int)
    /// The frame with the fields that its publication had and this build does not know. Those of the body itself are left out if the
    /// last value is false.
    package let restore: @Sendable (Frame, UnknownFields, Bool) -> Frame
    /// The waypoint or destination of a request that the codec has checked; nil if it cannot be decoded.
    package let waypoint: @Sendable (ReceivedRequest) -> Waypoint?

    package init(
        decode: @escaping @Sendable (Frame) -> DecodedPublication?,
        encode: @escaping @Sendable (Envelope) -> Frame,
        elementsFitting: @escaping @Sendable (Publication, Int, Int) -> (count: Int, byteCount: Int),
        restore: @escaping @Sendable (Frame, UnknownFields, Bool) -> Frame,
        waypoint: @escaping @Sendable (ReceivedRequest) -> Waypoint?
    ) {
        self.decode = decode
        self.encode = encode
        self.elementsFitting = elementsFitting
        self.restore = restore
        self.waypoint = waypoint
    }

    package static func == (lhs: BodyCoder, rhs: BodyCoder) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
