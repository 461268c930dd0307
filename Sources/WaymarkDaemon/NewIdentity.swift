internal import Foundation
internal import WaymarkProtocol

extension GatewayIdentity {
    /// The identity of a gateway whose state begins now. Without a name it draws one.
    ///
    /// - Returns: An identity with a higher epoch than every earlier one of the instance, unless the clock was set back.
    static func beginning(named instance: GatewayName?) -> GatewayIdentity {
        let drawn = (0..<16).map { _ in
            let byte = String(UInt8.random(in: 0 ... .max), radix: 16)
            return byte.count == 1 ? "0" + byte : byte
        }
        return GatewayIdentity(
            instance: instance ?? GatewayName(unchecked: drawn.joined()),
            epoch: UInt64(max(1, Date().timeIntervalSince1970 * 1_000)))
    }
}
