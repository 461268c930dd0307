package import WaymarkHistory
package import WaymarkProtocol

/// Something in a history that is probably a mistake of a peer.
package struct Finding: Sendable, Hashable {
    /// A value that the finding is about.
    package struct Value: Sendable, Hashable {
        package let name: String
        package let text: String

        package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
    }

    package let rule: LintID
    /// When it was found: rules that wait find something later than its entry.
    package let instant: Instant
    /// The index of the entry that shows it, or with which the waiting began.
    package let entry: Int
    /// The peer whose mistake it is.
    package let peer: PeerID
    /// ``SessionID/none`` if it is about no session.
    package let session: SessionID
    /// The field's path as in the protos, e.g. `route.maneuvers[3].junction_type`; empty for none.
    package let field: String
    package let values: [Value]
    /// What was seen, as a sentence without its full stop.
    package let text: String
}

/// Collects what rules find in one entry, or at one deadline.
struct LintContext {
    let instant: Instant
    let entry: Int
    var findings: [Finding] = []

    init(at instant: Instant, entry: Int) { (self.instant, self.entry) = (instant, entry) }

    /// Adds a finding. `entry`: of an earlier one, if a rule has waited.
    mutating func find(
        _ rule: LintID, _ peer: PeerID, _ session: SessionID, field: String = "",
        values: [(String, String)] = [], entry: Int? = nil, _ text: String
    ) {
        self.findings.append(
            Finding(
                rule: rule, instant: self.instant, entry: entry ?? self.entry, peer: peer, session: session,
                field: field, values: values.map { Finding.Value($0.0, $0.1) }, text: text))
    }

    /// The same, of the client of a session.
    mutating func find(
        _ rule: LintID, in session: SessionView, field: String = "", values: [(String, String)] = [],
        entry: Int? = nil, _ text: String
    ) {
        self.find(rule, session.client, session.id, field: field, values: values, entry: entry, text)
    }
}
