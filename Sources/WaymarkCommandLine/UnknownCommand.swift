internal import ArgumentParser
internal import ProcessIO

/// A word in place of a command, which is none.
struct UnknownCommand {
    let message: String

    /// nil if the arguments name a command.
    init?(_ arguments: [String], of root: any ParsableCommand.Type) {
        guard let message = Self.message(arguments, of: root) else { return nil }
        self.message = message
    }

    private static func message(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var path: [String] = [root.configuration.commandName ?? ""]
        var kind: any ParsableCommand.Type = root
        for argument in arguments {
            let commands = kind.configuration.subcommands
            guard !commands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            if let next = commands.first(where: { $0._commandName == argument }) {
                path.append(argument)
                kind = next
                continue
            }
            let names = commands.map { $0._commandName }
            let name = path.joined(separator: " ")
            return """
                Error: \(name) has no command \(Terminal.printable(argument))\(Spelling.hint(argument, of: names))
                Its commands are \(names.joined(separator: ", ")); see \(name) --help
                """
        }
        return nil
    }
}
