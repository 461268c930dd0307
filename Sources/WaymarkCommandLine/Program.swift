internal import ArgumentParser
internal import Foundation
internal import ProcessIO

/// Both programs, in one executable.
package enum Program {
    /// Runs the program by whose name this was started: `waymarkd`, else `waymark`.
    package static func main() async -> Never {
        StandardStream.prepare()
        if self.name == "waymarkd" {
            await self.run(Waymarkd.self)
        } else {
            await self.run(Waymark.self)
        }
    }

    /// The program that this is, in messages.
    static let name =
        CommandLine.arguments.first?.split(separator: "/").last == "waymarkd" ? "waymarkd" : "waymark"

    private static func run(_ root: (some ParsableCommand).Type) async -> Never {
        do {
            var command = try root.parseAsRoot()
            self.checkCompleteness(of: command, root)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            self.end(root, error)
        }
        exit(ExitCode.success.rawValue)
    }

    /// A command that only has others needs one of them: shows which there are.
    private static func checkCompleteness(
        of command: any ParsableCommand, _ root: (some ParsableCommand).Type
    ) {
        let kind = type(of: command)
        guard !kind.configuration.subcommands.isEmpty else { return }
        Terminal.notes(root.helpMessage(for: kind))
        exit(ExitCode.validationFailure.rawValue)
    }

    /// Why not `root.exit(withError:)`: what it prints may not be taken.
    private static func end(_ root: (some ParsableCommand).Type, _ error: any Error) -> Never {
        let error = CommandFailure(ofSystem: error) ?? error
        let status = root.exitCode(for: error)
        let message = root.fullMessage(for: error)
        if !message.isEmpty {
            if status.isSuccess { Terminal.line(message) } else { Terminal.notes(message) }
        }
        exit(status.rawValue)
    }
}

extension CommandFailure {
    /// What Foundation could not do, in words; nil for an error of another kind.
    init?(ofSystem error: any Error) {
        switch error {
        case let error as CocoaError:
            let path = unsafe error.userInfo[NSFilePathErrorKey] as? String
            let cause = (unsafe error.userInfo[NSUnderlyingErrorKey] as? POSIXError).map {
                SystemError.reason($0.code.rawValue)
            }
            self.init(
                "\(path ?? "a file") cannot be used: \(cause ?? "error \(error.code.rawValue) of Foundation")"
            )
        case let error as POSIXError: self.init(SystemError.reason(error.code.rawValue))
        default: return nil
        }
    }
}
