internal import ProcessIO
internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkTexts

/// Which messages `watch` shows: all, only some, or all but some.
struct WatchedMessages: Sendable {
    /// Only these; empty: all.
    private var only: Set<MessageType> = []
    private var without: Set<MessageType> = []
    /// Events that are not shown.
    private(set) var eventsWithout: Set<GatewayEvent.Kind> = []

    init() {}

    /// - Throws: The first word that names nothing, with what it may have meant.
    init(only: [String], without: [String]) throws(UnknownName) {
        for word in only { self.only.insert(try Self.message(word, "--message")) }
        for word in without {
            if let kind = GatewayEvent.Kind(rawValue: word), kind != .unknown {
                self.eventsWithout.insert(kind)
            } else {
                self.without.insert(try Self.message(word, "--without"))
            }
        }
    }

    struct UnknownName: Error { let text: String }

    /// By the name of the protocol's page, as JSON has it, or as short as `watch` prints it.
    private static func message(_ word: String, _ option: String) throws(UnknownName) -> MessageType {
        let wanted = word.lowercased()
        for type in MessageType.allCases
        where self.names(of: type).contains(where: { $0.lowercased() == wanted }) {
            return type
        }
        let hint = Spelling.hint(word, of: self.allNames)
        throw UnknownName(text: "\(option) \(Terminal.printable(word)) is no message\(hint)")
    }

    private static func names(of type: MessageType) -> [String] {
        [FrameText.shortTitle(type), type.title, "\(type)"]
    }

    /// For completion and suggestions.
    static var allNames: [String] { MessageType.allCases.map(FrameText.shortTitle).sorted() }

    var isRestricted: Bool { !self.only.isEmpty }

    func areAsked(_ type: MessageType) -> Bool { self.only.contains(type) }

    /// Whether a line may be printed, in JSON too.
    func includes(_ update: GatewayUpdate) -> Bool {
        switch update.content {
        case .event(let event): return !self.eventsWithout.contains(event.kind)
        case .frame(let frame):
            guard let type = frame.type else { return self.only.isEmpty }
            return (self.only.isEmpty || self.only.contains(type)) && !self.without.contains(type)
        default: return true
        }
    }
}
