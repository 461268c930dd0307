internal import WaymarkModel

// In the state that is handed over to the next process these are coded by their values on the wire.

extension ClusterSetting: Codable {}
extension ContentStyle: Codable {}
extension DistanceUnits: Codable {}
extension LaneGuidanceID: Codable {}
extension ManeuverID: Codable {}
extension ManeuverState: Codable {}
extension RouteSource: Codable {}
