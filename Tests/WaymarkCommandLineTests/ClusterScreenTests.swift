import Foundation
import Synchronization
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient
@testable import WaymarkCommandLine

@Suite(.timeLimit(.minutes(10))) struct ClusterScreenTests {
    /// The last screen that an app has drawn.
    private final class Screen: Sendable {
        let lines = Mutex<[String]>([])
        var text: String { self.lines.withLock { $0.joined(separator: "\n") } }
    }

    private static func app(
        _ screen: Screen, prompts: ClusterApp.Prompts? = .ask
    ) -> ClusterApp {
        var options = ClusterApp.Options()
        options.title = "car/cluster"
        options.output = .screen
        options.prompts = prompts
        options.keys = prompts == nil ? ClusterApp.watchingKeys : ClusterApp.keys
        options.drawLines = { lines in screen.lines.withLock { $0 = lines } }
        return ClusterApp(options)
    }

    /// Runs `body` with an app that is connected to a daemon of its own.
    private static func withConnectedApp(
        prompts: ClusterApp.Prompts? = .ask, _ body: (ClusterApp, Screen) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "wm-\(UInt32.random(in: 0 ... .max))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        let screen = Screen()
        let app = Self.app(screen, prompts: prompts)
        try await Demo.withDaemon(folder) {
            let endpoint = try await VehicleEndpoint.connect(
                to: .unix(path: "\(folder)/vehicle.sock"), .init(vehicle: "car", endpoint: "cluster"))
            await app.attach(endpoint)
            try await body(app, screen)
            await endpoint.close()
        }
    }

    /// Guidance with all that the screen can show.
    private static var fullState: VehicleState {
        var state = CommandTests.fullState
        state.phase = .active
        state.isSuspended = true
        let long = String(repeating: "Long Winding Road ", count: 10)
        state.maneuvers[0].instructionVariants = [long, "Turn left"]
        state.currentRoadName = [long]
        return state
    }

    @Test func `the screen says how old its content is while a connection is lost or the client is away`() {
        var view = ClusterScreen.View()
        func has(_ text: String) -> Bool {
            ClusterScreen.lines(view, columns: 80, rows: 24).contains { $0.hasSuffix(text) }
        }
        view.lostFor = .seconds(12)
        #expect(has("the gateway is away: this is 12 s old"))
        view.age = .seconds(75)
        #expect(has("the gateway is away: this is 75 s old"))
        view.lostFor = nil
        view.state.isSuspended = true
        #expect(has("the navigation client is away: guidance stands still, this is 75 s old"))
    }

    @Test func `the screen fits into 80 columns and 24 rows, whatever it shows`() {
        var view = ClusterScreen.View()
        view.title = "car/cluster"
        view.connection = "connection lost, reconnecting"
        view.lostFor = .seconds(12)
        view.state = Self.fullState
        view.story = (1...50).map { "step \($0) of a drive that has a very long story, longer than one line" }
        view.keys = ClusterApp.keys
        let lines = ClusterScreen.lines(view, columns: 80, rows: 24)
        #expect(lines.count == 24)
        // Roads and places may have any length: they are cut. What is ours is not.
        for line in lines where !line.contains("Winding") { #expect(line.count <= 80, "\(line)") }
        #expect(lines.contains { $0.contains("Turn left") })
        #expect(lines.contains { $0.contains("step 50") })
        for line in ClusterApp.keys + ClusterApp.previewKeys + ClusterApp.watchingKeys {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test func `the newest steps of the story stay on the screen`() {
        var view = ClusterScreen.View()
        view.story = (1...9).map { "step \($0)" }
        view.keys = ["Ctrl-C ends the demo"]
        let lines = ClusterScreen.lines(view, columns: 80, rows: 24)
        for number in 1...9 { #expect(lines.contains("  step \(number)")) }
    }

    @Test func `lines are wrapped at spaces, and a word without any anywhere`() {
        #expect(Terminal.wrapped("one two three four", columns: 9) == ["one two", "  three", "  four"])
        let long = String(repeating: "x", count: 100)
        #expect(Terminal.wrapped("a \(long)", columns: 80).map(\.count) == [1, 80, 24])
        #expect(Terminal.wrapped("", columns: 9) == [""])
        let wide = "日本 \(String(repeating: "語", count: 50))"
        #expect(Terminal.wrapped(wide, columns: 80, hanging: 4).count == 3)
    }

    @Test func `while the gateway is away the screen says so, and how old what it shows is`() async throws {
        let screen = Screen()
        let app = Self.app(screen)
        await app.apply(.connected(resumed: false))
        #expect(screen.text.contains("connected"))
        await app.apply(.connecting)
        #expect(screen.text.contains("connection lost, reconnecting"))
        #expect(screen.text.contains("the gateway is away: this is 0 s old"))
        await app.apply(.connected(resumed: true))
        #expect(!screen.text.contains("away"))
        #expect(screen.text.contains("connected to the gateway again"))
    }

    @Test func `an update that overtakes the news of the connection is told after it`() async throws {
        let screen = Screen()
        let app = Self.app(screen)
        let ended = SessionEnded(session: .none, reason: .userStopped)
        await app.apply(VehicleUpdate(Envelope(.sessionEnded(ended)), VehicleState()))
        await app.apply(.connected(resumed: false))
        #expect(await app.story == ["connected to the gateway", "there was no guidance to end"])
        await app.apply(.connecting)
        await app.apply(.connected(resumed: true))
        #expect(await app.story.last == "connected to the gateway again")
    }

    @Test func `before the first connection the screen says what it waits for, and of no loss`() async throws
    {
        let screen = Screen()
        let app = Self.app(screen)
        for _ in 1...3 {
            await app.apply(.connecting)
            await app.apply(.closed(.cannotConnect(.unix(path: "/x"), reason: "no")))
        }
        #expect(screen.text.contains("waiting for the gateway"))
        #expect(screen.text.contains("not connected yet"))
        for wrong in ["closed", "away", "lost", "no guidance"] { #expect(!screen.text.contains(wrong)) }
    }

    @Test func `a question, what is typed and the keys stay on a small screen`() {
        var view = ClusterScreen.View()
        view.state = Self.fullState
        view.keys = ClusterApp.keys
        view.question = "[y/n] stop?"
        let asked = ClusterScreen.lines(view, columns: 80, rows: 8)
        #expect(asked.count == 8)
        #expect(asked.suffix(3) == ["  ▶ [y/n] stop?"] + ClusterApp.keys)
        view.entry = "stop at \(String(repeating: "x", count: 100))END"
        let typed = ClusterScreen.lines(view, columns: 80, rows: 24)
        let line = typed.dropLast(2).last ?? ""
        #expect(line.count == 80 && line.hasSuffix("END▏"), "\(line)")
    }

    @Test func `every key says what it did, or why not`() async throws {
        try await Self.withConnectedApp { app, screen in
            for key in "+-x12yncartzowd" {
                await app.show("")
                await app.press(.character(key))
                let rows = screen.lines.withLock { $0 }
                let status = try #require(rows.dropLast(ClusterApp.keys.count).last)
                #expect(!status.trimmingCharacters(in: .whitespaces).isEmpty, "\(key)")
            }
        }
    }

    @Test func `a cluster that only watches can do nothing with its keys`() async throws {
        try await Self.withConnectedApp(prompts: nil) { app, screen in
            for key in "+xwcoya" {
                await app.show("")
                await app.press(.character(key))
                #expect(await app.status == "only watching; q quits")
                #expect(await app.entry == nil)
            }
            #expect(screen.text.contains("nothing is answered, nothing can be sent"))
        }
    }

    @Test func `the keys 1 and 2 choose the alert's actions by their place, whatever ids they have`()
        async throws
    {
        try await Self.withConnectedApp { app, screen in
            var state = VehicleState()
            state.alert = NavigationAlert(
                id: 1, titleVariants: ["Jam"], actions: [AlertAction(id: 70, titleVariants: ["Avoid"])])
            await app.apply(VehicleUpdate("showAlert", .other, state))
            #expect(screen.text.contains("[1] Avoid"))
            await app.press(.character("1"))
            #expect(await app.status == "told the client: Avoid")
            await app.press(.character("2"))
            #expect(await app.status == "the alert has no action 2")
        }
    }

    @Test func `an alert has the mark of its priority`() async throws {
        try await Self.withConnectedApp { app, screen in
            let marks: [(AlertPriority?, String)] = [(.high, "‼"), (.medium, "⚠"), (.low, "·"), (nil, "⚠")]
            for (priority, mark) in marks {
                var state = VehicleState()
                state.alert = NavigationAlert(id: 1, titleVariants: ["Jam"], priority: priority)
                await app.apply(VehicleUpdate("showAlert", .other, state))
                #expect(screen.text.contains("\(mark) Jam"))
            }
        }
    }

    private static func trip(_ name: String, routes: Int) -> Trip {
        let place = Waypoint(center: Coordinate(latitude: 1, longitude: 2), nameVariants: [name])
        let choices = (0..<routes).map { index in
            RouteChoice(
                id: UInt32(index + 4), summaryVariants: ["\(name) Street \(index + 1)"],
                travelEstimates: TravelEstimates(
                    distanceRemaining: .meters(9_000), timeRemaining: .seconds(60 * (index + 1))))
        }
        return Trip(
            id: name, origin: place, destination: place, routeChoices: choices,
            selectedRouteChoice: choices.last?.id)
    }

    /// A client offers trips.
    private static func offer(_ trips: [Trip], selected: String = "", to app: ClusterApp) async {
        var state = VehicleState()
        (state.phase, state.client) = (.preview, "app")
        (state.previews, state.selectedPreview) = (trips, selected)
        let update = VehicleUpdate("tripPreviews", .tripPreviews(trips, selected: selected), state)
        await app.apply(update)
    }

    @Test func `a preview is on the screen with its routes, and keys choose and start one`() async throws {
        try await Self.withConnectedApp { app, screen in
            for key in "ps" {
                await app.press(.character(key))
                #expect(await app.status.hasPrefix("there is no trip"))
            }
            await Self.offer([Self.trip("B", routes: 2), Self.trip("C", routes: 1)], selected: "B", to: app)
            #expect(screen.text.contains("app offers trip 1 of 2 to B"))
            #expect(screen.text.contains("    [1] B Street 1: 9 km, 1 min"))
            #expect(screen.text.contains("  ▶ [2] B Street 2: 9 km, 2 min"))
            #expect(screen.text.contains(ClusterApp.previewKeys[0]))
            await app.press(.character("1"))
            #expect(await app.status == "selected to B by B Street 1: 9 km, 1 min")
            #expect(screen.text.contains("  ▶ [1] B Street 1: 9 km, 1 min"))
            await app.press(.character("3"))
            #expect(await app.status == "the trip has no route 3")
            await app.press(.character("p"))
            #expect(screen.text.contains("app offers trip 2 of 2 to C, 9 km, 1 min"))
            #expect(await app.preview?.trip.id == "C")
            await app.press(.character("s"))
            #expect(
                await app.story.last == "the vehicle asks to start the trip to C by C Street 1: 9 km, 1 min")
        }
    }

    @Test func `previews that change under the finger change what the keys mean`() async throws {
        try await Self.withConnectedApp { app, screen in
            await Self.offer([Self.trip("B", routes: 2), Self.trip("C", routes: 3)], to: app)
            await app.press(.character("p"))
            #expect(await app.preview?.route == 6)
            await Self.offer([Self.trip("D", routes: 0)], selected: "C", to: app)
            let preview = await app.preview
            #expect(preview?.trip.id == "D" && preview?.route == nil)
            #expect(screen.text.contains("app offers a trip to D"))
            await app.press(.character("1"))
            #expect(await app.status == "the trip has no route 1")
            var state = VehicleState()
            state.phase = .active
            await app.apply(VehicleUpdate("updateTrip", .other, state))
            let over = await app.preview
            #expect(over == nil)
            #expect(!screen.text.contains(ClusterApp.previewKeys[0]))
        }
    }

    @Test func `a typed place can be deleted`() async throws {
        try await Self.withConnectedApp { app, screen in
            for key in Keyboard.keys("w47") { await app.press(key) }
            #expect(screen.text.contains("stop at LAT,LON NAME (Enter, or Escape): 47"))
            await app.press(.escape)
            #expect(await app.status == "nothing asked")
            for key in Keyboard.keys("wnowhere\r") { await app.press(key) }
            #expect(await app.status.contains("nowhere is not LAT,LON"))
        }
    }

    @Test func `a question stands on the screen until it is answered`() async throws {
        let screen = Screen()
        let app = Self.app(screen)
        let place = Waypoint(center: Coordinate(latitude: 1, longitude: 2), nameVariants: ["Café"])
        async let answer = app.ask(place)
        while await !app.isAsking { await Task.yield() }
        #expect(screen.text.contains("[y/n] drive to Café, which the client shares?"))
        await app.press(.character("y"))
        #expect(await answer)
        #expect(screen.text.contains("the vehicle's user says yes"))
    }

    @Test func `of two questions the last one is answered, and the other one stays`() async throws {
        let screen = Screen()
        let app = Self.app(screen)
        func place(_ name: String) -> Waypoint {
            Waypoint(center: Coordinate(latitude: 1, longitude: 2), nameVariants: [name])
        }
        async let first = app.ask(place("Café"))
        while !screen.text.contains("Café") { await Task.yield() }
        let second = Task { await app.ask(place("Bar")) }
        while !screen.text.contains("Bar") { await Task.yield() }
        await app.press(.character("n"))
        #expect(await second.value == false)
        #expect(screen.text.contains("[y/n] drive to Café"))
        let over = Task { await app.ask(place("Zoo")) }
        while !screen.text.contains("Zoo") { await Task.yield() }
        over.cancel()
        #expect(await over.value == false)
        #expect(screen.text.contains("[y/n] drive to Café"))
        await app.press(.character("y"))
        #expect(await first)
    }
}
