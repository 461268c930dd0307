#if Inspector
    import Foundation
    import Testing
    import WaymarkClient
    import WaymarkInspector
    import WaymarkInspectorServer

    @Suite(.timeLimit(.minutes(2))) struct ActionDeskTests {
        /// A vehicle may not keep a place of the endpoints that the desk has at one time, if it cannot connect.
        @Test func `an endpoint that cannot connect frees its place`() async throws {
            var settings = ActionDesk.Settings()
            settings.address = .unix(path: "/nonexistent/socket")
            let desk = ActionDesk(settings)
            for number in 0..<20 {
                let body = Data(#"{"vehicle": "car\#(number)", "action": "connect"}"#.utf8)
                do throws(InspectorError) {
                    _ = try await desk.act(body)
                    Issue.record("there is nothing to connect to")
                } catch {
                    // Busy would be said if the places were taken.
                    #expect(error.code == .disconnected, "\(number): \(error)")
                }
            }
            let object = try #require(
                try JSONSerialization.jsonObject(with: await desk.object("car19", since: Date()))
                    as? [String: Any])
            let endpoint = try #require(object["endpoint"] as? [String: Any])
            #expect(endpoint["state"] as? String == "refused")
            #expect((endpoint["reason"] as? String)?.isEmpty == false)
            await desk.close()
        }
    }
#endif
