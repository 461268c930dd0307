/// Answers to the page, one structure for each object.
///
/// scripts/generate/answers.py makes the page's types from this folder. It reads structures with one property a line, and nothing else.
package enum Answer {}

extension Answer {
    /// The members of every answer about a source.
    struct Context: Encodable {
        let source: String
        /// Seconds since the source begins.
        let at: Double
        let time: String
        let now: String
    }

    struct Failure: Encodable {
        let error: FailureReason
    }

    struct FailureReason: Encodable {
        let code: String
        let reason: String
        var field: String?
    }

    /// A reason why a cell is empty or cut.
    struct Reason: Encodable {
        let side: String
        let path: String
        let reason: String
        let text: String
        var next: String?
        var feature: String?
        var code: String?
        var limit: String?
        var sequence: Int?
        var count: Int?
        var value: Int?
    }
}
