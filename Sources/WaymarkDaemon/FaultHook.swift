internal import Foundation
package import NIOCore
package import WaymarkConfiguration

/// Injects faults for tests of the watchdog. The setting `debug.fault` chooses one.
package enum FaultHook {
    /// The total time of ``Settings/Fault/busyLoop``, and the length of one task.
    private static let busyTime = TimeAmount.seconds(10)
    private static let busyTask = TimeAmount.milliseconds(100)

    package static func inject(_ fault: Settings.Fault, into loop: any EventLoop) {
        switch fault {
        case .none: break
        case .stopLoop: loop.execute { while true { pause() } }
        case .busyLoop: self.keepBusy(loop, until: .now() + self.busyTime)
        }
    }

    /// Runs one busy task after another, so that other tasks of the loop run in between. The pause of 1 ms lets the loop read
    /// input, which it does only when no task is due.
    private static func keepBusy(_ loop: any EventLoop, until end: NIODeadline) {
        loop.scheduleTask(in: .milliseconds(1)) {
            let taskEnd = NIODeadline.now() + self.busyTask
            while NIODeadline.now() < taskEnd {}
            if taskEnd < end { self.keepBusy(loop, until: end) }
        }
    }
}
