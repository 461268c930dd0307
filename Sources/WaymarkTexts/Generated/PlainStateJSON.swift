// Made by scripts/generate/wire.sh from Protos. Do not edit.

internal import WaymarkClient
internal import WaymarkModel

extension PlainState {
    /// Its keys.
    var object: [String: Any] {
        switch self {
        case .currentRoadName(let currentRoadName):
            ["currentRoadName": currentRoadName]
        }
    }

    /// Its values in words.
    var details: [String] {
        switch self {
        case .currentRoadName(let currentRoadName):
            [currentRoadName.first ?? ""]
        }
    }
}

extension ChangedKeys {
    /// The values of plain states.
    mutating func addPlainStates() {
        self.add("currentRoadName", \.currentRoadName) { $0 }
    }
}
