internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

// The commands of `waymark cluster --commands` do this: lines of standard input, for programs in place of a user.
extension ClusterApp {
    /// The commands, for a line that is none of them.
    static let commands =
        "waypoint LAT LON, destination LAT LON, select TRIP [ROUTE], start [TRIP [ROUTE]], withdraw, yes, no, cancel, "
        + "own, allow and quit"

    /// Does what a line says; prints why it cannot on standard error.
    func obey(_ line: String) async {
        let words = line.split(separator: " ").map(String.init)
        guard let command = words.first, let endpoint = self.endpoint else { return }
        switch (command, words.count) {
        case ("waypoint", 3), ("destination", 3): self.request(command, words[1], words[2], of: endpoint)
        case ("select", 2), ("select", 3), ("start", 2), ("start", 3):
            let route = words.count == 3 ? UInt32(words[2]) : nil
            guard words.count == 2 || route != nil else {
                return self.show("\(words[2]) is not the number of a route")
            }
            if command == "select" {
                await endpoint.selectPreview(trip: words[1], routeChoice: route)
            } else {
                self.startTrip(words[1], route, "start \(words[1])", of: endpoint)
            }
        case ("start", 1): self.startTrip(endpoint)
        case ("withdraw", 1):
            guard let request = self.lastRequest else { return self.show("there is no request to withdraw") }
            await endpoint.withdrawRequest(request)
        case ("yes", 1), ("no", 1): self.answerQuestion(command == "yes")
        case ("cancel", 1): self.cancel(endpoint, .userStopped)
        case ("own", 1): self.cancel(endpoint, .ownNavigationStarted)
        case ("allow", 1): await endpoint.allowNavigation()
        case ("quit", 1): self.finish()
        default: self.show("\(command) is no command; the commands are \(Self.commands)")
        }
    }

    private func request(
        _ command: String, _ latitude: String, _ longitude: String, of endpoint: VehicleEndpoint
    ) {
        let place: Waypoint
        do { place = Waypoint(center: try coordinate("\(latitude),\(longitude)")) } catch {
            return self.show("\(error)")
        }
        let request = UUID().uuidString
        self.lastRequest = request
        Task {
            let ending = await endpoint.request(
                command == "waypoint" ? .waypoint(place) : .destination(place), requestID: request)
            self.show("\(command) \(Story.name(place)): \(ending.explanation)")
        }
    }
}
