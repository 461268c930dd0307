internal import WaymarkCodec
internal import WaymarkProtocol

extension Codec {
    /// Validates a message as its receiver will, before a call waits for the answer.
    ///
    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` naming the field that is outside of its range.
    static func check(_ message: Message) throws(ClientError) {
        do throws(DecodingError) {
            _ = try Codec.decode(Codec.encode(Envelope(message)))
        } catch {
            switch error {
            case .rejected(let rejection):
                throw ClientError(rejection)
            case .unknownType: preconditionFailure("the codec writes only what it reads: \(message.type)")
            }
        }
    }
}
