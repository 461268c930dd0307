import ArgumentParser
import Testing

@testable import WaymarkCommandLine

@Suite struct UnknownCommandTests {
    @Test(arguments: [
        (["wacth"], "Error: waymark has no command wacth; did you mean watch?"),
        (["recrod", "--to", "/tmp"], "Error: waymark has no command recrod; did you mean record"),
        (["recording", "shwo", "f"], "Error: waymark recording has no command shwo; did you mean show?"),
        (["request", "waipoint"], "Error: waymark request has no command waipoint; did you mean waypoint?"),
        (["xyzzy"], "Error: waymark has no command xyzzy\n"),
        (["a\u{1B}[2J"], "Error: waymark has no command a"),
    ]) func `an unknown command is named, with what it may have meant`(_ arguments: [String], _ text: String)
        throws
    {
        let error = #expect(throws: (any Error).self) { try Waymark.parseAsRoot(arguments) }
        let message = Program.message(Waymark.self, Waymark.self, try #require(error), arguments)
        #expect(message.hasPrefix(text), "\(message)")
        #expect(!message.contains("\u{1B}"))
        #expect(message.contains("Its commands are "))
    }

    @Test(arguments: [["watch", "--nope"], ["--nope"], ["record", "stray"], ["help", "nope"]])
    func `other errors stay as they are`(_ arguments: [String]) throws {
        #expect(UnknownCommand(arguments, of: Waymark.self) == nil)
    }
}
