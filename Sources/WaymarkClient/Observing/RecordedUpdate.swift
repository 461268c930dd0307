package import Foundation
package import WaymarkProtocol

// What an observer is told, made from a recording.

extension GatewayUpdate {
    /// An update that was told at `time`.
    package static func recorded(_ content: Content, number: UInt64, at time: Date) -> GatewayUpdate {
        GatewayUpdate(number: number, time: time, content: content)
    }
}

extension ObservedFrame {
    /// A frame that crossed.
    package static func recorded(
        _ frame: Frame, _ way: Way, to vehicles: Set<VehicleID>, isRedacted: Bool, isRejected: Bool
    ) -> ObservedFrame {
        ObservedFrame(frame, way, to: vehicles, isRedacted: isRedacted, isRejected: isRejected)
    }
}

extension GatewayEvent {
    /// An event; `peer` is that of its connection.
    package static func recorded(_ event: ObservedEvent, peer: String) -> GatewayEvent {
        GatewayEvent(event, peer: peer)
    }
}

extension GatewaySnapshot {
    /// A state that was told by a gateway named `instance`. Its dates are not known.
    package static func recorded(_ gateway: ObservedGateway, instance: String) -> GatewaySnapshot {
        let origin = Gateway(
            instance: instance, start: Date(timeIntervalSince1970: 0), software: "", showsContent: true)
        return GatewaySnapshot(origin, gateway, GatewayClock())
    }
}
