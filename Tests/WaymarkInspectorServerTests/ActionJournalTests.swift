#if Inspector
    import Foundation
    import Testing
    import WaymarkClient

    @testable import WaymarkInspectorServer

    @Suite struct ActionJournalTests {
        private static func action(_ number: Int, _ step: VehicleAction = .allow) -> ActionJournal.Action {
            ActionJournal.Action(
                "a\(number)", "allow", step, isRedacted: false,
                at: Date(timeIntervalSince1970: Double(number)))
        }

        @Test func `the last 50 actions of a vehicle are kept, and those that are under way`() {
            var journal = ActionJournal()
            journal.add(Self.action(0, .cancel(.userStopped)), of: "car")
            for number in 1...60 {
                journal.add(Self.action(number), of: "car")
                journal.end("a\(number)", of: "car", "sent")
            }
            #expect(journal["car"].map(\.id) == ["a0"] + (12...60).map { "a\($0)" })
            #expect(journal.answeredCount == 1 && journal.isBusy("car"))
        }

        @Test func `of 64 vehicles, the one whose last action is the oldest is forgotten, unless it is busy`()
        {
            var journal = ActionJournal()
            for number in 0..<70 {
                journal.add(
                    Self.action(number, number == 0 ? .cancel(.userStopped) : .allow), of: "car\(number)")
                if number > 0 { journal.end("a\(number)", of: "car\(number)", "sent") }
            }
            let kept = (0..<70).filter { !journal["car\($0)"].isEmpty }
            #expect(kept == [0] + Array(7..<70))
        }

        @Test func `the first outcome counts`() {
            var journal = ActionJournal()
            journal.add(Self.action(1), of: "car")
            journal.add(Self.action(2), of: "car")
            journal.end("a1", of: "car", "accepted")
            journal.endpointLeaves("car")
            journal.end("a2", of: "car", "accepted")
            #expect(journal["car"].map(\.outcome) == ["accepted", "endpointLeft"])
            #expect(journal["car"].last?.explanation.isEmpty == false)
            #expect(!journal.isBusy("car"))
        }
    }
#endif
