internal import WaymarkGateway
internal import WaymarkProtocol

/// Follows the events that endpoints send for their client, and checks what becomes of each: the client gets it at once, or the endpoint
/// the error that says why not.
struct EventWatch {
    /// An event that the gateway handles.
    private struct Handled {
        let message: Message
        let connection: ConnectionID
        let path: EndpointPath
        let session: SessionID
        /// The connections that got it.
        var receivers: [ConnectionID] = []
        var error: ErrorCode?
    }

    /// The content of a client's last Hello.
    private struct Client {
        let simulates: Bool
        let extensions: [ExtensionName]
    }

    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    private var handled: Handled?
    private var clients: [ClientID: Client] = [:]

    mutating func admit(_ hello: NavigationHello) {
        self.clients[hello.client] = Client(
            simulates: hello.features.contains(.simulatedDrives), extensions: hello.extensions)
    }

    /// The gateway begins to handle a message of an endpoint.
    mutating func begin(
        _ message: Message, _ session: SessionID, from connection: ConnectionID, of path: EndpointPath
    ) {
        switch message {
        case .simulateDrive, .vehicleExtension:
            self.handled = Handled(message: message, connection: connection, path: path, session: session)
        default: break  // The others have watches of their own, or none.
        }
    }

    /// The gateway sends a message.
    mutating func see(_ message: Message, to connection: ConnectionID) {
        switch message {
        case .simulateDrive(let asked):
            guard case .simulateDrive(let sent)? = self.handled?.message, let path = self.handled?.path,
                asked.vehicle == path.vehicle, asked.endpoint == path.endpoint,
                asked.action == sent.action, asked.speedPercent == sent.speedPercent
            else { return self.report(.oneOutcome, "\(asked) was not sent") }
            self.handled?.receivers.append(connection)
        case .vehicleExtension(let told):
            guard case .vehicleExtension(let sent)? = self.handled?.message,
                told.source == self.handled?.path,
                told.name == sent.name, told.content == sent.content
            else { return self.report(.oneOutcome, "\(told) was not sent") }
            self.handled?.receivers.append(connection)
        case .error(let rejection):
            guard let handled = self.handled, handled.connection == connection,
                rejection.messageType == handled.message.type.rawValue
            else { return }
            self.handled?.error = rejection.code
        default: break
        }
    }

    /// The gateway has handled its event. `isInSession`: whether the endpoint is in the session that it named; `client`: who has that
    /// session; `connection`: that of the client, if it is connected; `hasRules`: whether there are access rules, of which none is about
    /// simulated drives.
    mutating func end(
        isInSession: (ConnectionID, SessionID) -> Bool, client: (SessionID) -> ClientID?,
        connection: (ClientID) -> ConnectionID?, hasRules: Bool
    ) {
        guard let handled = self.handled else { return }
        self.handled = nil
        guard handled.receivers.isEmpty || handled.receivers.count == 1 && handled.error == nil else {
            return self.report(.oneOutcome, "\(handled.message) has several outcomes")
        }
        // The session may have ended; an endpoint that is back may not know yet that it goes on.
        guard isInSession(handled.connection, handled.session), let client = client(handled.session),
            let known = self.clients[client]
        else { return }
        let receiver = connection(client)
        switch handled.message {
        case .simulateDrive:
            if hasRules { return self.expect(nil, .notAuthorized, .rulesHold, handled) }
            guard receiver != nil else {
                return self.expect(nil, .unknownReference, .rejectionChangesNothing, handled)
            }
            guard known.simulates else {
                return self.expect(nil, .notGranted, .rejectionChangesNothing, handled)
            }
            self.expect(receiver, nil, .oneOutcome, handled)
        case .vehicleExtension(let sent):
            guard known.extensions.contains(sent.name) else {
                // Only endpoints that want to know are told that it is ignored.
                let code = handled.error == nil ? nil : ErrorCode.ignored
                return self.expect(nil, code, .rejectionChangesNothing, handled)
            }
            self.expect(receiver, nil, .oneOutcome, handled)
        default: break
        }
    }

    private mutating func expect(
        _ receiver: ConnectionID?, _ code: ErrorCode?, _ promise: Promise, _ handled: Handled
    ) {
        guard handled.receivers.first != receiver || handled.error != code else { return }
        let expected = "\(receiver.map { "\($0)" } ?? "no client") and \(code.map { "\($0)" } ?? "no error")"
        let seen = handled.receivers.map { "\($0)" } + [handled.error].compactMap { $0.map { "\($0)" } }
        self.report(promise, "\(handled.message) had the outcome \(seen), not \(expected)")
    }

    private mutating func report(_ promise: Promise, _ text: String) {
        self.violations.append((promise, text))
    }
}
