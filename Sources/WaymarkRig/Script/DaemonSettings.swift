internal import WaymarkConfiguration
internal import WaymarkProtocol
package import WaymarkScenario
internal import Yams

extension Scenario {
    /// The settings of a daemon that is the scenario's gateway, as a file of waymarkd: the scenario's own file without its listeners,
    /// then what the scenario says itself, then one listener for everyone.
    ///
    /// - Parameters:
    ///   - inputs: With its file of settings.
    ///   - socket: The path of the Unix socket where it listens.
    /// - Returns: YAML.
    /// - Throws: An error of the YAML, which was read before.
    package func daemonSettings(_ inputs: ScenarioInputs, socket: String) throws -> String {
        var root = Node.Mapping([])
        if let text = inputs.settingsText {
            let file = self.gateway.settings?.text ?? self.file
            if let mapping = try Configuration.compose(text, file: file)?.mapping { root = mapping }
        }
        if root["instance"] == nil { root["instance"] = "rig" }
        if let arbitration = self.gateway.arbitration { root["arbitration"] = Node("\(arbitration)") }
        var times = root["times"]?.mapping ?? Node.Mapping([])
        func set(_ key: Node, _ duration: Duration?) {
            if let duration { times[key] = Node("\(duration.milliseconds)ms") }
        }
        set("grace", self.gateway.grace)
        set("request", self.gateway.request)
        set("prompt", self.gateway.prompt)
        set("share", self.gateway.share)
        set("slow-consumer", self.gateway.slowConsumer)
        set("keepalive", self.gateway.keepalive)
        if !times.isEmpty { root["times"] = Node.mapping(times) }
        root["listeners"] = [
            ["address": Node("unix:\(socket)"), "roles": ["vehicle", "navigation"]]
        ]
        return try Yams.serialize(node: .mapping(root))
    }
}
