import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite struct FeedTests {
    private func roadName(_ number: Int) -> VehicleUpdate {
        var state = VehicleState()
        state.currentRoadName = ["road \(number)"]
        return VehicleUpdate(
            Envelope(.publication(.currentRoadName(state.currentRoadName)), sequence: UInt64(number)), state)
    }

    @Test func `of a state only the newest is queued; events are queued in order`() {
        var mailbox = Mailbox<VehicleUpdate>()
        for number in 1...5_000 { mailbox.enqueue(self.roadName(number)) }
        mailbox.enqueue(
            VehicleUpdate(
                Envelope(.publication(.showAlert(NavigationAlert(id: 1, titleVariants: [])))), .init()))
        mailbox.enqueue(self.roadName(5_001))
        mailbox.enqueue(VehicleUpdate(Envelope(.publication(.finishGuidance)), .init()))
        #expect(mailbox.queue.map(\.name) == ["showAlert", "currentRoadName", "finishGuidance"])
        #expect(mailbox.queue[1].state.currentRoadName == ["road 5001"])
    }

    @Test func `beyond the bound the oldest events are dropped, and the reader is told how many`() {
        var mailbox = Mailbox<SessionEvent>()
        for number in 1...1_000 {
            mailbox.enqueue(.alertResponse(vehicle: "car", alert: UInt32(number), .action(1)))
        }
        mailbox.enqueue(.ended(reason: .finished))
        #expect(mailbox.queue.count == SessionEvent.queuedMax)
        #expect(mailbox.dequeue() == .missed(745))
        #expect(mailbox.dequeue() == .alertResponse(vehicle: "car", alert: 746, .action(1)))
        var last: SessionEvent?
        while let event = mailbox.dequeue() { last = event }
        #expect(last == .ended(reason: .finished))
    }

    @Test(
        arguments: AlertDismissal.allKnown.map(SessionEvent.AlertAnswer.dismissed) + [.action(1), .action(7)])
    func `an alert's answer says how it was dismissed, or which action was chosen`(
        _ answer: SessionEvent.AlertAnswer
    ) {
        let response: AlertResponse.Response =
            switch answer {
            case .dismissed(let dismissal): .dismissed(dismissal)
            case .action(let action): .action(action)
            }
        let path = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        let message = Message.alertResponse(AlertResponse(alert: 3, response: response, source: path))
        #expect(SessionEvent(message) == .alertResponse(vehicle: "car", alert: 3, answer))
    }

    @Test func `a selection names the trip, and the route choice if it has one`() {
        let path = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        for choice: UInt32? in [nil, 2] {
            let message = Message.selectPreview(SelectPreview(trip: "t", routeChoice: choice, source: path))
            let expected = SessionEvent.previewSelected(
                vehicle: "car", endpoint: "cluster", trip: "t", routeChoice: choice)
            #expect(SessionEvent(message) == expected)
        }
    }

    @Test func `large frames are dropped before there are many, but never the newest`() {
        var mailbox = Mailbox<GatewayUpdate>()
        func enqueue(_ number: UInt64, bytes: Int) {
            let frame = Frame(header: FrameHeader(type: 0x0142), body: [UInt8](repeating: 0, count: bytes))
            let observed = ObservedFrame(
                frame, .from("app"), to: [], isRedacted: false, isRejected: false)
            mailbox.enqueue(GatewayUpdate(number: number, time: Date(), content: .frame(observed)))
        }
        for number in 1...5 { enqueue(UInt64(number), bytes: 6_000_000) }
        #expect(mailbox.queue.map(\.number) == [4, 5])
        #expect(mailbox.dequeue()?.content == .missed(3))
        #expect(mailbox.dequeue()?.number == 4)
        enqueue(6, bytes: 17_000_000)
        #expect(mailbox.queue.map(\.number) == [6])
        #expect(mailbox.dequeue()?.content == .missed(1))
        #expect(mailbox.dequeue()?.number == 6)
        for number in 7...8 { enqueue(UInt64(number), bytes: 6_000_000) }
        #expect(mailbox.queue.map(\.number) == [7, 8])
    }

    @Test func `a late reader of session events begins with the vehicles`() async {
        var record = AppSession(OpenSession(requestID: "s", vehicles: .anyThatAsked), onWaypoint: nil)
        for standing in [VehicleStanding.awaited, .joined] {
            let status = VehicleStatus(vehicle: VehicleID(unchecked: "car"), standing: standing)
            if let event = SessionEvent(.vehicleChanged(status)) { record.tell(event) }
        }
        let gone = VehicleStatus(vehicle: VehicleID(unchecked: "gone"), standing: .joined)
        if let event = SessionEvent(.vehicleChanged(gone)) { record.tell(event) }
        record.tell(.vehicleChanged(vehicle: "gone", standing: .left(.replaced), endpoints: []))
        let feed = record.openFeed()
        record.end(.userStopped)
        var events: [SessionEvent] = []
        for await event in feed { events.append(event) }
        #expect(
            events == [
                .vehicleChanged(vehicle: "car", standing: .joined, endpoints: []),
                .ended(reason: .userStopped),
            ])
        for await _ in record.openFeed() { Issue.record("nothing follows the end") }
    }

    @Test func `a reader whose feed was released is removed`() async {
        var readers = Readers<VehicleState>()
        do {
            let feed = readers.open(with: [VehicleState()])
            for await _ in feed { break }
        }
        readers.tell(VehicleState())
        readers.tell(VehicleState())
        #expect(readers.count == 0)
    }
}
