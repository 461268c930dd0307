internal import WaymarkModel

// As parts of a state that the next process goes on with: by their values on the wire.

extension ClusterSetting: Codable {}
extension ContentStyle: Codable {}
extension DistanceUnits: Codable {}
extension LaneGuidanceID: Codable {}
extension ManeuverID: Codable {}
extension ManeuverState: Codable {}
extension RouteSource: Codable {}
