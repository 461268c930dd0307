import WaymarkModel
import WaymarkProtocol
import WaymarkRig

// What endpoints of vehicles ask, answer and report wrongly.
extension Mutant {
    static let ofRequests = Self.ofAsking + Self.ofAnswering + Self.ofStopping + Self.ofReporting

    private static let ofAsking: [Mutant] = [
        .clusterSends("sends each request twice, with two ids", in: "two-stops-asked") { sent, _ in
            guard case .waypointRequest(var request) = sent.message else { return [sent] }
            request.requestID = Identifier(request.requestID.rawValue + "-2")
            return [sent, sent.with(.waypointRequest(request))]
        },
        .clusterSends("confuses latitude and longitude of a stop", in: "two-stops-asked") { sent, _ in
            guard case .waypointRequest(var request) = sent.message else { return [sent] }
            let center = request.waypoint.center
            request.waypoint.center = Coordinate(
                latitude: center.longitude, longitude: center.latitude)
            return [sent.with(.waypointRequest(request))]
        },
        .clusterSends("asks for a stop when it wants a drive", in: "drive-asked-by-the-vehicle") { sent, _ in
            guard case .destinationRequest(let request) = sent.message else { return [sent] }
            let stop = WaypointRequest(requestID: request.requestID, waypoint: request.destination)
            return [sent.with(.waypointRequest(stop))]
        },
        .clusterSends("asks for a drive while it is guided", in: "declined-stop", "stop-accepted") {
            sent, _ in
            guard case .waypointRequest(let request) = sent.message else { return [sent] }
            let drive = DestinationRequest(
                requestID: request.requestID, destination: request.waypoint)
            return [sent.with(.destinationRequest(drive))]
        },
        .clusterSends("never withdraws a request", in: "stop-withdrawn") { sent, _ in
            if case .withdrawRequest = sent.message { [] } else { [sent] }
        },
        .clusterReads("withdraws every request that has ended", in: "two-stops-asked") { read, memory in
            // Once: the gateway repeats the outcome.
            guard case .requestOutcome(let outcome) = read.message, memory.envelopes.last != read else {
                return ([read], [])
            }
            memory.envelopes = [read]
            let withdrawal = WithdrawRequest(requestID: outcome.requestID)
            return ([read], [Envelope(.withdrawRequest(withdrawal))])
        },
        .clusterSends("uses one id for all requests", in: "stop-accepted", "stop-withdrawn") { sent, _ in
            guard case .waypointRequest(var request) = sent.message else { return [sent] }
            request.requestID = "request"
            return [sent.with(.waypointRequest(request))]
        },
    ]

    private static let ofAnswering: [Mutant] = [
        .clusterSends(
            "says yes when the driver says no, and no when the driver says yes", in: "stop-accepted"
        ) {
            sent, _ in
            guard case .promptAnswer(var answer) = sent.message else { return [sent] }
            answer.isAccepted.toggle()
            return [sent.with(.promptAnswer(answer))]
        },
        .clusterSends("never answers a prompt", in: "stop-accepted") { sent, _ in
            if case .promptAnswer = sent.message { [] } else { [sent] }
        },
        .clusterSends("answers a prompt with yes and then with no", in: "stop-accepted") { sent, _ in
            guard case .promptAnswer(var answer) = sent.message else { return [sent] }
            answer.isAccepted = false
            return [sent, sent.with(.promptAnswer(answer))]
        },
        .clusterReads("answers a prompt that is over", in: "stop-accepted") { read, _ in
            guard case .promptOver(let over) = read.message else { return ([read], []) }
            let answer = PromptAnswer(requestID: over.requestID, isAccepted: true)
            return ([read], [Envelope(.promptAnswer(answer))])
        },
        .clusterSends("declines destinations that the driver accepts", in: "destination-shared") { sent, _ in
            guard case .destinationShareAnswer(var answer) = sent.message else { return [sent] }
            answer.outcome = .declinedByUser
            return [sent.with(.destinationShareAnswer(answer))]
        },
    ]

    private static let ofStopping: [Mutant] = [
        .clusterSends(
            "says that the user stopped when its own navigation starts", in: "vehicle-navigates-itself"
        ) {
            sent, _ in
            if case .cancelNavigation(.ownNavigationStarted) = sent.message {
                [sent.with(.cancelNavigation(.userStopped))]
            } else {
                [sent]
            }
        },
        .clusterSends("never allows guidance again", in: "vehicle-navigates-itself") { sent, _ in
            if case .allowNavigation = sent.message { [] } else { [sent] }
        },
        .clusterSends("cancels the session before", in: "nothing-after-cancelling") { sent, _ in
            guard case .cancelNavigation = sent.message else { return [sent] }
            return [Envelope(sent.message, session: SessionID(sent.session.rawValue + 7))]
        },
        .clusterReads("cancels again when guidance has ended", in: "nothing-after-cancelling") { read, _ in
            guard case .sessionEnded(let ended) = read.message, ended.reason == .userStopped,
                ended.session != .none
            else { return ([read], []) }
            return ([read], [Envelope(.cancelNavigation(.userStopped))])
        },
    ]

    private static let ofReporting: [Mutant] = [
        .clusterSends("counts the actions of an alert from 0", in: "alert-answered") { sent, _ in
            guard case .alertResponse(var response) = sent.message,
                case .action(let action) = response.response, action > 0
            else { return [sent] }
            response.response = .action(action - 1)
            return [sent.with(.alertResponse(response))]
        },
        .clusterReads("answers an alert by itself as soon as it is shown", in: "alert-answered") { read, _ in
            guard case .publication(.showAlert(let alert)) = read.message else { return ([read], []) }
            let response = AlertResponse(alert: alert.id, response: .dismissed(.timeout))
            return ([read], [Envelope(.alertResponse(response), session: read.session)])
        },
        .clusterSends("never says that its display is ready", in: "client-waits-for-the-display") { sent, _ in
            if case .vehicleSettings = sent.message { [] } else { [sent] }
        },
        .clusterReads("says that it is ready with every message", in: "display-reports-back") { read, _ in
            guard case .publication = read.message else { return ([read], []) }
            var settings = VehicleSettings()
            settings.isReadyToShow = true
            return ([read], [Envelope(.vehicleSettings(settings))])
        },
        .clusterSends("counts frames in receipts instead of naming the number", in: "display-reports-back") {
            sent, memory in
            guard case .receipt = sent.message else { return [sent] }
            memory.count += 1
            let receipt = Receipt(receivedSequence: UInt64(memory.count), shownSequence: 0)
            return [sent.with(.receipt(receipt))]
        },
        .clusterSends("says in receipts that it shows what it has not received", in: "display-reports-back") {
            sent, _ in
            guard case .receipt(var receipt) = sent.message else { return [sent] }
            receipt.shownSequence = receipt.receivedSequence + 1
            return [sent.with(.receipt(receipt))]
        },
        .clusterSends("zooms in the wrong direction", in: "display-reports-back") { sent, _ in
            guard case .zoomCluster(var zoom) = sent.message else { return [sent] }
            zoom.direction = zoom.direction == .in ? .out : .in
            return [sent.with(.zoomCluster(zoom))]
        },
    ]
}
