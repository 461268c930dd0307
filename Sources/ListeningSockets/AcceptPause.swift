internal import Glibc
package import Logging
package import NIOCore
internal import WaymarkTelemetry

/// Stops accepting for a while when the system has no descriptor or no memory for another connection. New connections wait in the
/// kernel's queue.
///
/// NIO keeps polling the listening socket after such an error, so that its event loop would spin.
package final class AcceptPause: ChannelDuplexHandler {
    package typealias InboundIn = any Channel
    package typealias OutboundIn = any Channel

    /// An event that pauses or resumes a listener.
    package struct Command: Sendable {
        package let isAccepting: Bool

        package init(isAccepting: Bool) { self.isAccepting = isAccepting }
    }

    static let delay = TimeAmount.milliseconds(100)
    private static let logInterval = TimeAmount.minutes(1)

    private let logger: Logger
    /// As the listener's owner wants it.
    private var isAccepting = true
    /// Set during a pause.
    private var end: Scheduled<Void>?
    private var nextLine = NIODeadline.uptimeNanoseconds(0)

    package init(_ logger: Logger) { self.logger = logger }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, Self.isShortage(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        guard self.end == nil else { return }
        self.log(error)
        self.set(false, context.channel)
        self.end = context.eventLoop.assumeIsolated().scheduleTask(in: Self.delay) {
            [channel = context.channel] in
            self.end = nil
            if self.isAccepting { self.set(true, channel) }
        }
    }

    package func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let command = event as? Command else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        self.isAccepting = command.isAccepting
        if self.end == nil { self.set(command.isAccepting, context.channel) }
        promise?.succeed()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.end?.cancel()
        context.fireChannelInactive()
    }

    private func set(_ isAccepting: Bool, _ channel: any Channel) {
        do { try channel.syncOptions?.setOption(.autoRead, value: isAccepting) } catch { /* It is closed. */
        }
    }

    private func log(_ error: IOError) {
        let now = NIODeadline.now()
        guard now >= self.nextLine else { return }
        self.nextLine = now + Self.logInterval
        self.logger.warning("\(LoggedEvent.acceptPaused)", metadata: [LogKey.error: "\(error)"])
    }

    private static func isShortage(_ code: CInt) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }
}
