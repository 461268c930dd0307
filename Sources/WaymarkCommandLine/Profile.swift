internal import Foundation
internal import WaymarkClient
internal import WaymarkModel

/// Why a profile file was not taken.
struct ProfileError: Error, CustomStringConvertible {
    let description: String
}

/// What a kind of cluster can do: a JSON file.
struct ClusterProfile: Sendable {
    var limits = EndpointLimits()
    var without: Set<String> = []
    var distanceUnits = DistanceUnits.asPublished
    var locale = ""
    /// How long the cluster takes for every message.
    var readDelay = Duration.zero

    /// The profile that ships under `name`, or in the file of that path.
    static func load(_ name: String) throws -> ClusterProfile {
        if let data = Resources.profile(name) { return try self.parse(data, name) }
        guard let data = FileManager.default.contents(atPath: name) else {
            let names = Resources.profileNames.joined(separator: ", ")
            throw ProfileError(description: "\(name) is not a file, nor one of the profiles \(names)")
        }
        return try self.parse(data, name)
    }

    static func parse(_ data: Data, _ name: String) throws -> ClusterProfile {
        guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw ProfileError(description: "\(name): must be a JSON object")
        }
        var profile = ClusterProfile()
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            guard try profile.set(key, value) else {
                throw ProfileError(
                    description:
                        "\(name): \(key) is not a key of a profile, or its value is of the wrong kind")
            }
        }
        return profile
    }

    private mutating func set(_ key: String, _ value: Any) throws -> Bool {
        switch (key, value) {
        case ("description", is String): break
        case ("locale", let locale as String): self.locale = locale
        case ("without", let names as [String]): self.without = Set(names)
        case ("readDelayMilliseconds", let delay as Int): self.readDelay = .milliseconds(max(0, delay))
        case ("distanceUnits", let name as String):
            guard let units = DistanceUnits.allKnown.first(where: { "\($0)" == name }) else { return false }
            self.distanceUnits = units
        case ("limits", let limits as [String: Int]):
            for (name, limit) in limits {
                guard let path = Self.limitPaths[name], let number = UInt32(exactly: limit) else {
                    return false
                }
                self.limits[keyPath: path] = number
            }
        default: return false
        }
        return true
    }

    private static let limitPaths: [String: any (WritableKeyPath<EndpointLimits, UInt32> & Sendable)] = [
        "currentRoadName": \.currentRoadNameLengthMax, "destinationName": \.destinationNameLengthMax,
        "roadFollowingManeuver": \.roadFollowingManeuverLengthMax,
        "maneuverInstruction": \.maneuverInstructionLengthMax, "laneInstruction": \.laneInstructionLengthMax,
        "alertText": \.alertTextLengthMax, "maneuversStored": \.maneuversStoredMax,
        "laneGuidancesStored": \.laneGuidancesStoredMax, "routeSegmentPoints": \.routeSegmentPointsMax,
    ]
}
