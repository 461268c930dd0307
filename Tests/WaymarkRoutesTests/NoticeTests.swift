import Testing
import WaymarkRoutes

/// Every notice on a good route is one that was thought about.
@Suite struct NoticeTests {
    @Test(arguments: RouteFile.readable)
    func `every notice on a good route has a reason`(_ file: RouteFile) throws {
        let answer = try file.answer()
        for notice in answer.notices + answer.routes.flatMap(\.notices) {
            #expect(
                NoticeReasons.reason(path: notice.path, sentence: notice.reason) != nil,
                "\(notice.path): \(notice.reason)")
        }
    }

    @Test(.enabled(if: !RouteFile.recorded.isEmpty, "no recorded routes"))
    func `every reason is that of a notice on a recorded route`() throws {
        let answers = try RouteFile.readable.map { try $0.answer() }
        let notices = answers.flatMap { $0.notices + $0.routes.flatMap(\.notices) }
        let used = Set(notices.compactMap { NoticeReasons.reason(path: $0.path, sentence: $0.reason) })
        let all = NoticeReasons.members.map(\.reason) + NoticeReasons.sentences.map(\.reason)
        #expect(all.filter { !used.contains($0) } == [])
    }
}
