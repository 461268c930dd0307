internal import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkScenario

extension RecordedConversation {
    /// The settings of the recorded gateway, as far as the recording shows them.
    package var settings: VirtualRun.Settings {
        if let runSettings { return runSettings }
        var settings = VirtualRun.Settings()
        if let welcome = self.connections.lazy.compactMap(\.welcome).first {
            settings.policy.limits.grace = .milliseconds(Int64(welcome.graceMilliseconds))
        }
        return settings
    }
}

extension Recording {
    /// What the scenario of a run says of its gateway; nil for other recordings.
    var runSettings: VirtualRun.Settings? {
        guard self.origin?.run != nil, let file = self.content(where: { $0.hasSuffix(".scenario.yaml") }),
            let text = String(validating: file, as: UTF8.self)
        else { return nil }
        do {
            let scenario = try ScenarioReader.read(text, file: "scenario")
            var inputs = ScenarioInputs()
            if let name = scenario.gateway.settings?.text, let bytes = self.content(where: { $0 == name }) {
                inputs.settings = try Configuration.read(bytes, file: name)
            }
            return VirtualRun.Settings(scenario, inputs, seed: scenario.seed, .virtual)
        } catch {
            // Of another version of the format. Its gateway has the settings that others have.
            return nil
        }
    }

    /// An attached file.
    private func content(where isNamed: (String) -> Bool) -> [UInt8]? {
        guard let index = self.index.attachments.first(where: { isNamed($0.name) }) else { return nil }
        do { return try self.attachment(index).data } catch {
            return nil  // Damaged: as if it were not there.
        }
    }
}
