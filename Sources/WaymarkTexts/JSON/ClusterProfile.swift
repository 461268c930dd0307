package import Foundation
package import WaymarkClient
package import WaymarkModel
internal import WaymarkProtocol

/// Why a profile file is refused.
package struct ProfileError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// What a kind of cluster can do: a JSON file.
package struct ClusterProfile: Sendable {
    package var limits = EndpointLimits()
    /// The largest frame that it takes; 0: any.
    package var receiveFrameBytesMax: UInt32 = 0
    package var without: Set<GuidanceFeature> = []
    package var distanceUnits = DistanceUnits.asPublished
    package var locale = ""
    /// The extensions that it takes, e.g. `org.example.tyres`.
    package var extensions: Set<String> = []
    /// How long the cluster spends on each message.
    package var readDelay = Duration.zero

    package init() {}

    /// Reads a profile.
    ///
    /// - Throws: `ProfileError`, which names the key.
    package static func parse(_ data: Data, _ name: String) throws -> ClusterProfile {
        let json: Any
        do { json = try JSONSerialization.jsonObject(with: data) } catch {
            throw ProfileError(description: "\(name): this is not JSON")
        }
        guard let object = json as? [String: Any] else {
            throw ProfileError(description: "\(name): must be a JSON object")
        }
        var profile = ClusterProfile()
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            if let reason = profile.set(key, value) { throw ProfileError(description: "\(name): \(reason)") }
        }
        return profile
    }

    /// Sets `key`; returns why the value is refused, nil if it is not.
    private mutating func set(_ key: String, _ value: Any) -> String? {
        switch key {
        case "description": return value is String ? nil : "description must be a text"
        case "locale":
            guard let locale = value as? String else { return "locale must be a text, e.g. de-LI" }
            self.locale = locale
        case "without":
            guard let names = value as? [String] else { return "without must be a list of features" }
            for name in names {
                guard let feature = GuidanceFeature(rawValue: name) else {
                    let known = GuidanceFeature.allCases.map(\.rawValue).joined(separator: ", ")
                    return "without: \(name) is not one of \(known)"
                }
                self.without.insert(feature)
            }
        case "extensions":
            guard let names = value as? [String], names.allSatisfy({ ExtensionName($0) != nil }) else {
                return "extensions must be a list of names, e.g. org.example.tyres"
            }
            self.extensions = Set(names)
        case "readDelayMilliseconds":
            guard let delay = value as? Int, (0...3_600_000).contains(delay) else {
                return "readDelayMilliseconds must be a whole number, 0 to 3600000"
            }
            self.readDelay = .milliseconds(delay)
        case "distanceUnits":
            guard let units = DistanceUnits.allKnown.first(where: { $0.name == value as? String }) else {
                return "distanceUnits must be one of "
                    + DistanceUnits.allKnown.map(\.name).joined(separator: ", ")
            }
            self.distanceUnits = units
        case "limits":
            guard let limits = value as? [String: Any] else { return "limits must be an object" }
            return self.set(limits)
        default:
            return
                "\(key) is not one of description, distanceUnits, extensions, limits, locale, "
                + "readDelayMilliseconds, without"
        }
        return nil
    }

    private mutating func set(_ limits: [String: Any]) -> String? {
        for (name, limit) in limits.sorted(by: { $0.key < $1.key }) {
            guard let path = Self.limitPaths[name] else {
                return "limits.\(name) is not one of " + Self.limitPaths.keys.sorted().joined(separator: ", ")
            }
            guard let number = (limit as? Int).flatMap({ UInt32(exactly: $0) }) else {
                return "limits.\(name) must be a whole number from 0, for no limit"
            }
            self[keyPath: path] = number
        }
        return nil
    }

    private static let limitPaths: [String: any (WritableKeyPath<ClusterProfile, UInt32> & Sendable)] = [
        "currentRoadName": \.limits.currentRoadNameLengthMax,
        "destinationName": \.limits.destinationNameLengthMax,
        "roadFollowingManeuver": \.limits.roadFollowingManeuverLengthMax,
        "maneuverInstruction": \.limits.maneuverInstructionLengthMax,
        "laneInstruction": \.limits.laneInstructionLengthMax,
        "alertText": \.limits.alertTextLengthMax, "maneuversStored": \.limits.maneuversStoredMax,
        "laneGuidancesStored": \.limits.laneGuidancesStoredMax,
        "routeSegmentPoints": \.limits.routeSegmentPointsMax,
        "frameBytes": \.receiveFrameBytesMax,
    ]
}
