internal import Foundation
internal import Glibc
internal import ProcessIO

/// Ends the processes of a run and removes its folder, also if the rig is killed: a shell that waits for the end of a pipe.
final class Guardian: Sendable {
    private let pipe: CInt

    private static let script = """
        trap '' HUP INT TERM
        ids=
        while read -r verb id; do
          case $verb in
          add) ids="$ids $id" ;;
          remove)
            rest=
            for other in $ids; do [ "$other" = "$id" ] || rest="$rest $other"; done
            ids=$rest ;;
          esac
        done
        for id in $ids; do kill -s KILL -- "-$id"; done
        rm -rf -- "$1"
        """

    init(_ folder: RunFolder) throws(ChildProcess.Failure) {
        let ends = try ChildProcess.newPipe()
        defer { _ = close(ends.read) }
        self.pipe = ends.write
        let words = ["/bin/sh", "-c", Self.script, "waymark-guardian", folder.path]
        _ = try ChildProcess(.init(words: words, input: ends.read), onExit: { _ in })
    }

    deinit { _ = close(self.pipe) }

    func watch(_ process: ChildProcess) { self.tell("add \(process.id)") }

    func forget(_ process: ChildProcess) { self.tell("remove \(process.id)") }

    private func tell(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        // A line is shorter than a pipe, so it is written whole or not at all: then the shell is gone.
        _ = unsafe bytes.withUnsafeBytes { unsafe write(self.pipe, $0.baseAddress, $0.count) }
    }
}
