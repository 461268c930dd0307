import Foundation
import Logging
import ProcessIO
import Synchronization
import Testing
import WaymarkDaemon

@Suite(.timeLimit(.minutes(1))) struct LogQueueTests {
    @Test func `a log that is not read holds nothing up, and what is dropped is counted`() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], StandardStream(ends[1]))
        let queue = LogQueue { count in
            do throws(WriteError) { try writer.write("dropped \(count)\n") } catch {}
        }
        let logger = Logger(label: "l") { LineLogHandler(label: $0, stream: writer, queue: queue) }
        // More than the pipe and the queue have room for.
        for number in 0..<10_000 { logger.info("\(number) \(String(repeating: "x", count: 300))") }
        #expect(!queue.flush(within: .milliseconds(1)))
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !text.contains("dropped") || !text.hasSuffix("\n") {
            let count = read(reader, &buffer, buffer.count)
            try #require(count > 0)
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let lines = text.split(separator: "\n")
        let dropped = try #require(lines.first { $0.hasPrefix("dropped") }.flatMap { Int($0.dropFirst(8)) })
        let numbers = lines.compactMap { $0.split(separator: " ").dropFirst(3).first.flatMap { Int($0) } }
        #expect(numbers == Array(0..<numbers.count))
        #expect(dropped > 1_000 && dropped < 10_000)
        // The rest is written as well.
        let drain = Thread {
            var rest = [UInt8](repeating: 0, count: 65_536)
            while read(reader, &rest, rest.count) > 0 {}
        }
        drain.start()
        #expect(queue.flush(within: .seconds(30)))
        close(ends[1])
    }
}
