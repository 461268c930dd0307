internal import Foundation
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import Yams

// The faults of a proxy: those of scenarios, with a name each, and for peers that no file declares.
extension ScenarioReader {
    /// The longest line that ``proxyRequest(_:)`` reads, in bytes.
    package static let requestBytesMax = 65_536

    private static let nameKey = "name"

    /// Reads a file of faults.
    package static func proxyFaults(
        _ text: String, file: String
    ) throws(ScenarioErrors) -> ProxyFaults {
        var reader = ScenarioReader(file: file, what: "a file of faults")
        reader.isOpen = true
        var faults = ProxyFaults()
        if let root = reader.compose(text) { faults = reader.proxyFaults(root) }
        try reader.throwErrors()
        return faults
    }

    /// Reads a line of the control socket.
    package static func proxyRequest(_ line: String) throws(ScenarioErrors) -> ProxyRequest {
        var reader = ScenarioReader(file: "line", what: "a request")
        reader.isOpen = true
        var request: ProxyRequest?
        if reader.isObject(line), let root = reader.compose(line) { request = reader.proxyRequest(root) }
        try reader.throwErrors()
        guard let request else {
            throw ScenarioErrors(errors: [reader.error("the request cannot be read")])
        }
        return request
    }

    private func error(_ reason: String) -> ConfigurationError {
        ConfigurationError(
            location: SourceLocation(file: self.file, line: 1, column: 1), reason: reason)
    }

    /// Why not YAML alone: what is no JSON would be understood by this version, and perhaps by no other.
    private mutating func isObject(_ line: String) -> Bool {
        guard line.utf8.count <= Self.requestBytesMax else {
            self.fail(self.error("").location, "a request has at most \(Self.requestBytesMax) bytes")
            return false
        }
        do {
            if try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any] { return true }
        } catch { /* The same answer. */  }
        self.fail(
            self.error("").location, "a request is a JSON object, e.g. {\"list\": true}")
        return false
    }

    // MARK: Files

    private mutating func proxyFaults(_ node: Node) -> ProxyFaults {
        var read = ProxyFaults()
        guard let root = self.mapping(node, "the file", ["about", "seed", "faults"]) else { return read }
        self.require(["faults"], root)
        read.about = root["about"].flatMap { self.text($0, "about", 1...512) }
        read.seed = root["seed"].flatMap { self.integer($0, "seed", 0...9_007_199_254_740_991) }.map {
            UInt64($0)
        }
        read.faults = self.list(root["faults"], "faults", 1...ProxyFaults.countMax) { $0.proxyFault($1) }
        var names: Set<String> = []
        for fault in read.faults {
            guard let name = fault.name, !names.insert(name).inserted else { continue }
            self.fail(fault.fault.location, "two faults have the name \(name)")
        }
        return read
    }

    private mutating func proxyRequest(_ node: Node) -> ProxyRequest? {
        let keys = ["fault", "clear", "list"]
        guard let map = self.mapping(node, "a request", keys), let key = self.exactlyOne(of: keys, map),
            let value = map[key]
        else { return nil }
        switch key {
        case "fault": return self.proxyFault(value).map { .fault($0) }
        case "clear":
            if case .text("*") = self.literal(value) { return .clearAll }
            return self.name(value, "clear").map { .clear($0) }
        default: return self.isSet(value, "list") ? .list : nil
        }
    }

    // MARK: Faults

    private mutating func proxyFault(_ node: Node) -> ProxyFault? {
        guard let map = self.mapping(node, "fault", [Self.nameKey] + Self.faultKeys) else { return nil }
        if map.has("gateway") {
            self.fail(
                map.key("gateway"),
                "a proxy can do nothing to the gateway's process; a scenario of waymark test can")
            return nil
        }
        let name = map[Self.nameKey].flatMap { self.name($0, Self.nameKey) }
        let event = map["after"].map { self.ownOrOther($0) }
        guard let fault = self.fault(map, after: event?.event) else { return nil }
        return ProxyFault(name: name, fault, hasOwnEvent: event?.isOwn ?? true)
    }

    /// A message, of the connection itself or of other peers.
    private mutating func ownOrOther(_ node: Node) -> (event: Scenario.Event?, isOwn: Bool) {
        guard let map = self.mapping(node, "after", ["of", "message", "where", "state", "count"]) else {
            return (nil, true)
        }
        if map.has("state") {
            self.fail(map.key("state"), "a proxy follows messages, not states; after needs message")
            return (nil, true)
        }
        self.require(["message"], map)
        let count = map["count"].flatMap { self.integer($0, "count", 1...1_000_000) }
        let of = map["of"].flatMap { self.selector($0, "of") }
        guard let name = map["message"],
            // Its own peer is put in once it has connected.
            let message = self.message(name, where: map["where"], of ?? .client(ProxyFault.unnamedPeer))
        else { return (nil, !map.has("of")) }
        let event = Scenario.Event(pattern: .message(message), count: count, location: self.location(node))
        return (event, !map.has("of"))
    }
}
