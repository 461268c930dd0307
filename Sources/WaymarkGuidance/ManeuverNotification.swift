internal import WaymarkModel

extension RouteInformation {
    /// The same, but each maneuver says whether it may interrupt a display. A maneuver that says so already keeps its style.
    var withNotifications: RouteInformation {
        var information = self
        for index in information.maneuvers.indices where information.maneuvers[index].notification == nil {
            information.maneuvers[index].notification = information.maneuvers[index].type.notification
        }
        return information
    }
}

extension ManeuverType {
    /// A maneuver at which the driver does something interrupts the display once it is due, and stays there with its estimates. One at which
    /// the road is followed does not; nor does the beginning, where guidance has just been started.
    fileprivate var notification: NotificationStyle {
        switch self {
        case .noTurn, .straightAhead, .followRoad, .startRoute: .never
        default: .withEstimates
        }
    }
}
