internal import Foundation
internal import Synchronization
internal import WaymarkClient
internal import WaymarkTexts

/// Prints what an observer is told, in order.
final class WatchPrinter: Sendable {
    private struct State {
        var report: WatchReport
        var gateway: GatewaySnapshot.Gateway?
        var isRedactionNoted = false
        var isConnectingPrinted = false
        var wasConnected = false
    }

    private let state: Mutex<State>
    private let isJSON: Bool
    private let messages: WatchedMessages

    init(_ options: WatchReport.Options, isJSON: Bool) {
        self.messages = options.messages
        self.state = Mutex(State(report: WatchReport(options)))
        self.isJSON = isJSON
    }

    func print(_ update: GatewayUpdate) {
        guard self.messages.includes(update) else { return }
        self.state.withLock { state in
            if case .synchronized(let snapshot) = update.content { state.gateway = snapshot.gateway }
            let line = self.isJSON ? ObservedJSON.line(update) : state.report.line(for: update)
            if let line { Terminal.line(line) }
            if case .frame(let frame) = update.content, frame.isRedacted { self.noteRedaction(&state) }
        }
    }

    func print(_ connection: ConnectionState) {
        self.state.withLock { state in
            guard self.isJSON else {
                if let line = state.report.line(for: connection, at: Date()) { Terminal.line(line) }
                return
            }
            switch connection {
            case .connecting:
                // With --wait there are many attempts.
                if state.isConnectingPrinted, !state.wasConnected { return }
                state.isConnectingPrinted = true
            case .connected: state.wasConnected = true
            case .closed(let error): if error == .closed || !state.wasConnected { return }
            }
            Terminal.line(ClusterJSON.connection(connection, at: Date()))
        }
    }

    /// There was never a connection.
    func fail(_ error: ClientError) {
        if self.isJSON { Terminal.line(ClusterJSON.connection(.closed(error), at: Date())) }
    }

    private func noteRedaction(_ state: inout State) {
        guard !state.isRedactionNoted, let gateway = state.gateway else { return }
        state.isRedactionNoted = true
        Terminal.note(
            gateway.showsContent
                ? "texts and places that a vehicle's owner or a trip does not share are hidden; "
                    + "`observe-without-consent: true` of the listener shows them"
                : "texts and places are hidden; `observe: content` of the listener, in the settings of waymarkd, shows them"
        )
    }
}
