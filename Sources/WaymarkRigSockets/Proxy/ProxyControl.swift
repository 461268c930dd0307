internal import Foundation
internal import WaymarkConfiguration
internal import WaymarkFaults
internal import WaymarkScenario

/// The clients of a proxy's control socket.
struct ControlClients: Sendable {
    struct Client: Sendable {
        let socket: RigSocket
        /// What was read of the next line.
        var line: [UInt8] = []
        var isClosing = false
    }

    /// More clients at a time are not answered.
    static let clientsMax = 16

    var clients: [Int: Client] = [:]
    private var lastNumber = 0

    var sockets: [RigSocket] { self.clients.values.map(\.socket) }

    /// Adds a client.
    ///
    /// - Returns: Its number, which is negative.
    mutating func add(_ socket: RigSocket) -> Int {
        self.lastNumber -= 1
        self.clients[self.lastNumber] = Client(socket: socket)
        return self.lastNumber
    }
}

// The control socket: a line of JSON for each request, and one for its answer.
extension ProxyServer {
    static let controlListenerNumber = -1

    func acceptedControl(_ socket: RigSocket) -> Int {
        let number = self.control.add(socket)
        if self.control.clients.count > ControlClients.clientsMax {
            self.answer(number, ["error": "there are \(ControlClients.clientsMax) clients already"])
            self.closeControl(number)
        } else {
            socket.setReading(true)
        }
        return number
    }

    func handleControl(_ event: SocketEvent, of number: Int) {
        switch event {
        case .opened: break
        case .bytes(let bytes): self.read(bytes, number)
        case .ended: self.closeControl(number)
        case .writable(let isWritable):
            // A client that does not read its answers is not asked for more requests.
            let client = self.control.clients[number]
            client?.socket.setReading(isWritable)
        case .closed: self.control.clients[number] = nil
        }
    }

    private func closeControl(_ number: Int) {
        self.control.clients[number]?.isClosing = true
        // Why a copy: closing comes back here at once.
        let client = self.control.clients[number]
        client?.socket.close()
    }

    private func read(_ bytes: [UInt8], _ number: Int) {
        guard var client = self.control.clients[number], !client.isClosing else { return }
        client.line += bytes
        var lines = client.line.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        client.line = lines.popLast().map { Array($0) } ?? []
        self.control.clients[number]?.line = client.line
        for line in lines { self.answer(number, self.answer(to: String(decoding: line, as: UTF8.self))) }
        if client.line.count > ScenarioReader.requestBytesMax {
            self.answer(
                number, ["error": "a request has at most \(ScenarioReader.requestBytesMax) bytes"])
            self.closeControl(number)
        }
    }

    private func answer(_ number: Int, _ object: [String: Any]) {
        let client = self.control.clients[number]
        client?.socket.write(Array((Self.json(object) + "\n").utf8))
    }

    private static func json(_ object: [String: Any]) -> String {
        do {
            let data = try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        } catch {
            preconditionFailure("only plain values are written: \(error)")
        }
    }

    // MARK: Requests

    /// Does what a line asks for.
    func answer(to line: String) -> [String: Any] {
        do throws(ScenarioErrors) {
            let request = try ScenarioReader.proxyRequest(line)
            do throws(ProxyLinks.Failure) { return try self.perform(request) } catch {
                return ["error": "\(error)"]
            }
        } catch {
            let reasons = error.errors.map { "column \($0.location.column): \($0.reason)" }
            return ["error": reasons.joined(separator: "; ")]
        }
    }

    private func perform(_ request: ProxyRequest) throws(ProxyLinks.Failure) -> [String: Any] {
        switch request {
        case .fault(let fault):
            let name = try self.begin(fault)
            self.tell(.control("fault \(name) is declared"))
            return ["ok": true, "name": name]
        case .clear(let name):
            try self.clear(name)
            self.tell(.control("fault \(name) is cleared"))
            return ["ok": true]
        case .clearAll:
            self.clearAll()
            self.tell(.control("all faults are cleared"))
            return ["ok": true]
        case .list:
            self.tell(.control("faults and connections are listed"))
            return [
                "ok": true,
                "faults": self.links.list.map {
                    ["name": $0.name, "fault": $0.text, "stage": $0.stage.rawValue]
                },
                "connections": self.connections.keys.sorted().compactMap { self.connections[$0]?.told.json },
            ]
        }
    }
}

extension ProxyConnection {
    /// Its keys in lines of JSON.
    package var json: [String: Any] {
        [
            "connection": self.number, "peer": self.peer.map { "\($0)" } ?? NSNull(),
            "bytesToGateway": self.bytesToGateway, "bytesToPeer": self.bytesToPeer,
        ]
    }
}
