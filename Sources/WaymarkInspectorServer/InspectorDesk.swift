package import Foundation
internal import WaymarkClient
package import WaymarkInspector
package import WaymarkRecording

/// Answers the page: what is known of the gateway now, and of recordings.
package actor InspectorDesk {
    private var inspection: Inspection
    private let feed: LiveFeed?
    private var version: UInt64 = .max
    /// How many entries of a recording are judged in one go.
    private static let judgedAtOnce = 2_000

    /// Without a feed only the recordings are inspected, which have the names of their files.
    package init(
        _ options: Inspection.Options, feed: LiveFeed?, recordings: [(name: String, recording: Recording)]
    ) {
        var inspection = Inspection(options)
        if let feed {
            let (source, findings) = feed.snapshot
            inspection.sources.append(source)
            inspection.findings[source.id] = findings
        }
        for (index, (name, recording)) in recordings.enumerated() {
            let id = "r\(index + 1)"
            inspection.sources.append(
                InspectedSource(id, name: name, .recorded(recording), isRedacted: options.isRedacted))
            inspection.findings[id] = FindingBook(recording)
        }
        self.inspection = inspection
        self.feed = feed
    }

    /// Rises with everything that the page could show.
    package var currentVersion: UInt64 { self.feed?.version ?? 0 }

    /// Takes over what the feed was told since the last time.
    private func refresh() {
        guard let feed else { return }
        let version = feed.version
        guard version != self.version else { return }
        self.version = version
        let (source, findings) = feed.snapshot
        self.inspection[source: source.id] = source
        self.inspection.findings[source.id] = findings
    }

    /// Where the seconds of the live source begin.
    package var begin: Date { self.inspection.begin }

    /// Answers a question, see ``Inspection/answer(_:_:now:)``.
    package func answer(
        _ path: String, _ query: InspectorQuery, now: Date
    ) throws(InspectorError) -> InspectorAnswer {
        self.refresh()
        return try self.inspection.answer(path, query, now: now)
    }

    /// See ``Inspection/preview(_:now:)``.
    package func preview(_ body: Data, now: Date) throws(InspectorError) -> InspectorAnswer {
        self.refresh()
        return try self.inspection.preview(body, now: now)
    }

    package func openStream(
        _ query: InspectorQuery, lastID: String?
    ) throws(InspectorError) -> EventStream {
        self.refresh()
        return try EventStream(query, lastID: lastID, self.inspection)
    }

    /// What a page must be told.
    package func events(
        of stream: EventStream, actions: [String: Data], now: Date
    ) -> (events: [PageEvent], stream: EventStream) {
        self.refresh()
        var stream = stream
        let events = stream.next(&self.inspection, actions: actions, now: now)
        return (events, stream)
    }

    /// Judges recordings by the lint rules, between questions.
    package func judgeRecordings() async {
        for source in self.inspection.sources {
            guard case .recorded(let recording) = source.history else { continue }
            while !Task.isCancelled {
                guard var book = self.inspection.findings[source.id] else { break }
                self.inspection.findings[source.id] = nil
                let goesOn = book.judgeMore(Self.judgedAtOnce, recording)
                self.inspection.findings[source.id] = book
                guard goesOn else { break }
                await Task.yield()
            }
        }
    }
}
