internal import Foundation
internal import WaymarkProtocol

extension GatewayIdentity {
    /// The identity of a gateway whose state begins now. Without a name it draws one.
    ///
    /// With `epochs` its epoch is higher than every earlier one of the instance. Without, the clock may have been set back.
    ///
    /// - Returns: The identity, and why its epoch, or a later one, may be lower than one before; nil if none can.
    static func beginning(
        named instance: GatewayName?, keeping epochs: EpochFile?
    ) -> (identity: GatewayIdentity, problem: EpochFile.Problem?) {
        let now = UInt64(max(1, Date().timeIntervalSince1970 * 1_000))
        guard let instance else {
            // No other state has this name.
            return (GatewayIdentity(instance: self.drawnName, epoch: now), nil)
        }
        let (epoch, problem) = epochs?.next(at: now) ?? (epoch: now, problem: nil)
        return (GatewayIdentity(instance: instance, epoch: epoch), problem)
    }

    private static var drawnName: GatewayName {
        let drawn = (0..<16).map { _ in
            let byte = String(UInt8.random(in: 0 ... .max), radix: 16)
            return byte.count == 1 ? "0" + byte : byte
        }
        return GatewayName(unchecked: drawn.joined())
    }
}
