internal import Foundation
package import NIOCore
package import WaymarkConfiguration

/// Faults on demand, so that it can be seen what becomes of them. The setting `debug.fault` allows one.
package enum FaultHook {
    /// How long a loop is kept busy, and how long each piece of that takes.
    private static let busyTime = TimeAmount.seconds(10)
    private static let busyPiece = TimeAmount.milliseconds(100)

    /// Brings a fault about on a loop.
    package static func provoke(_ fault: Settings.Fault, on loop: any EventLoop) {
        switch fault {
        case .none: break
        case .stopLoop: loop.execute { while true { pause() } }
        case .busyLoop: self.keepBusy(loop, until: .now() + self.busyTime)
        }
    }

    /// One piece of work after another, with whatever else waits in between. Input is looked for only when nothing is to be done at
    /// once: hence the pause.
    private static func keepBusy(_ loop: any EventLoop, until end: NIODeadline) {
        loop.scheduleTask(in: .milliseconds(1)) {
            let pieceEnd = NIODeadline.now() + self.busyPiece
            while NIODeadline.now() < pieceEnd {}
            if pieceEnd < end { self.keepBusy(loop, until: end) }
        }
    }
}
