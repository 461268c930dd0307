internal import Foundation
internal import Glibc
internal import ProcessIO

/// An answer over HTTP.
struct Fetched: Sendable {
    /// E.g. "404".
    let status: String
    let bytes: [UInt8]
}

extension EngineConnection {
    /// Gets what is at `url`, whatever the status. curl(1) does: TLS, proxies and redirections are its, with the machine's certificates.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - body: The JSON to post; nil to get.
    ///   - deadline: The longest wait; nil for that of the limits.
    /// - Returns: The answer.
    /// - Throws: The reason why there is no answer.
    func fetch(
        _ url: String, posting body: String? = nil, within deadline: Duration? = nil
    ) async throws(RoutingError) -> Fetched {
        let deadline = deadline ?? self.limits.deadline
        let answer: Curl.Answer
        do throws(ChildProcess.Failure) {
            answer = try await Curl.run(
                self.arguments(url, posting: body, within: deadline), bytesMax: self.limits.bytesMax)
        } catch {
            throw .noClient(error.description)
        }
        guard !Task.isCancelled else { throw .cancelled }
        switch answer.exit {
        case _ where answer.bytes.count > self.limits.bytesMax, .status(Curl.tooLarge):
            throw .tooLarge(address: self.address, bytesMax: self.limits.bytesMax)
        case .status(0): return Fetched(status: answer.status, bytes: answer.bytes)
        case .status(Curl.timedOut):
            throw .timedOut(address: self.address, after: deadline)
        case let exit: throw .unreachable(address: self.address, reason: answer.reason(exit))
        }
    }

    private func arguments(
        _ url: String, posting body: String?, within deadline: Duration
    ) -> [String] {
        let seconds = deadline / .seconds(1)
        var arguments = [
            // Curl reads none of the user's settings, and takes [ and ] as they are.
            "--disable", "--silent", "--globoff",
            "--proto", "=http,https", "--location", "--max-redirs", "5",
            "--max-time", String(format: "%.3f", max(seconds, 0.001)),
            "--max-filesize", "\(self.limits.bytesMax)",
            "--write-out", "%{stderr}%{http_code} %{errormsg}",
        ]
        if let host = URL(string: url)?.host(), ["localhost", "127.0.0.1", "::1"].contains(host) {
            // This machine is never reached through a proxy.
            arguments += ["--noproxy", "*"]
        }
        if let body {
            arguments += ["--header", "Content-Type: application/json", "--data-raw", body]
        }
        return arguments + ["--url", url]
    }
}

/// A run of curl(1).
private enum Curl {
    // Its exit statuses that have an error of their own.
    static let timedOut: CInt = 28
    static let tooLarge: CInt = 63
    /// The most that is read of what it says of itself.
    static let wordsMax = 4_096

    /// Its output, and its end.
    struct Answer: Sendable {
        /// One byte more than was allowed if the answer is larger.
        let bytes: [UInt8]
        /// The status of HTTP and, behind a space, curl's message.
        let words: [UInt8]
        let exit: ChildProcess.Exit

        var status: String { String(decoding: self.words.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self) }

        /// The reason why there is no answer, in words.
        func reason(_ exit: ChildProcess.Exit) -> String {
            switch exit {
            case .status(6): "its host is not known"
            case .status(7): "nothing accepts the connection"
            case .status(1), .status(8): "what answers there is not HTTP"
            case .status(18), .status(52), .status(55), .status(56): "the connection was closed"
            case .status(35): "it does not speak TLS"
            case .status(60): "its certificate is not trusted"
            default: self.message.isEmpty ? "curl \(exit)" : "curl says: \(self.message)"
            }
        }

        private var message: String {
            let message = self.words.drop { $0 != UInt8(ascii: " ") }.dropFirst()
            return String(decoding: message, as: UTF8.self)
        }
    }

    /// Runs it, and ends it when the task is cancelled or more than `bytesMax` bytes have come.
    ///
    /// - Throws: Why it cannot be started.
    static func run(
        _ arguments: [String], bytesMax: Int
    ) async throws(ChildProcess.Failure) -> Answer {
        let (output, errors) = (try ChildProcess.newPipe(), try ChildProcess.newPipe())
        let (exits, exit) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        let process: ChildProcess
        do throws(ChildProcess.Failure) {
            process = try ChildProcess(
                .init(words: ["curl"] + arguments, output: output.write, errors: errors.write)
            ) {
                exit.yield($0)
                exit.finish()
            }
        } catch {
            for end in [output.read, output.write, errors.read, errors.write] { _ = close(end) }
            throw error
        }
        for end in [output.write, errors.write] { _ = close(end) }
        return await withTaskCancellationHandler {
            async let words = Self.content(of: errors.read, bytesMax: Self.wordsMax)
            let bytes = await Self.content(of: output.read, bytesMax: bytesMax)
            if bytes.count > bytesMax { process.signal(SIGKILL) }
            // A cancelled task does not wait for the end; it has killed the process.
            var ended = ChildProcess.Exit.signal(SIGKILL)
            for await exit in exits { ended = exit }
            return Answer(bytes: bytes, words: await words, exit: ended)
        } onCancel: {
            process.signal(SIGKILL)
        }
    }

    /// The content of a pipe, up to one byte more than `bytesMax`; closes it.
    private static func content(of descriptor: CInt, bytesMax: Int) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            // A thread of its own, because reading waits.
            Thread.detachNewThread {
                var bytes: [UInt8] = []
                var piece = [UInt8](repeating: 0, count: 65_536)
                while bytes.count <= bytesMax {
                    let count = unsafe piece.withUnsafeMutableBytes {
                        unsafe read(descriptor, $0.baseAddress, $0.count)
                    }
                    guard count != 0, count > 0 || errno == EINTR else { break }
                    bytes += piece[..<min(max(count, 0), bytesMax + 1 - bytes.count)]
                }
                _ = close(descriptor)
                continuation.resume(returning: bytes)
            }
        }
    }
}
