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
        var kind: any ParsableCommand.Type = root
        do {
            var command = try root.parseAsRoot()
            kind = type(of: command)
            self.checkCompleteness(of: command, root)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            self.end(root, kind, error)
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
    private static func end(
        _ root: (some ParsableCommand).Type, _ kind: any ParsableCommand.Type, _ error: any Error
    ) -> Never {
        let error = CommandFailure(ofSystem: error) ?? error
        let status = root.exitCode(for: error)
        let message = self.message(root, kind, error)
        if !message.isEmpty {
            if status.isSuccess { Terminal.line(message) } else { Terminal.notes(message) }
        }
        exit(status.rawValue)
    }
}

extension Program {
    /// What is shown of `error`. A wrong argument that only the command itself found comes with the usage of that command,
    /// as one that was found while parsing does.
    static func message(
        _ root: (some ParsableCommand).Type, _ kind: any ParsableCommand.Type, _ error: any Error,
        _ arguments: [String] = Array(CommandLine.arguments.dropFirst())
    ) -> String {
        if kind == root, let unknown = UnknownCommand(arguments, of: root) { return unknown.message }
        guard error is ValidationError, kind != root else { return root.fullMessage(for: error) }
        return "Error: \(root.message(for: error))\nUsage: \(root.usageString(for: kind))"
    }
}

extension CommandFailure {
    /// What Foundation could not do, in words; nil for an error of another kind.
    init?(ofSystem error: any Error) {
        switch error {
        case let error as CocoaError:
            let path = unsafe error.userInfo[NSFilePathErrorKey] as? String
            self.init("\(path ?? "a file") cannot be used: \(Self.reason(error))")
        case let error as POSIXError: self.init(SystemError.reason(error.code.rawValue))
        default: return nil
        }
    }

    /// Why a file cannot be used, in words, without its path.
    static func reason(_ error: any Error) -> String {
        guard let error = error as? CocoaError else {
            return Self(ofSystem: error).map { "\($0)" } ?? "\(error)"
        }
        let cause = unsafe error.userInfo[NSUnderlyingErrorKey] as? POSIXError
        return (cause?.code.rawValue ?? Self.number(of: error.code)).map { SystemError.reason($0) }
            ?? "error \(error.code.rawValue) of Foundation"
    }

    /// The system's number of an error that some functions of Foundation throw without it.
    private static func number(of code: CocoaError.Code) -> CInt? {
        switch code {
        case .fileNoSuchFile, .fileReadNoSuchFile: ENOENT
        case .fileReadNoPermission, .fileWriteNoPermission: EACCES
        case .fileReadTooLarge: EFBIG
        case .fileWriteFileExists: EEXIST
        case .fileWriteOutOfSpace: ENOSPC
        case .fileWriteVolumeReadOnly: EROFS
        default: nil
        }
    }
}
