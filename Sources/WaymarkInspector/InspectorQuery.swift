internal import Foundation
internal import WaymarkProtocol

/// Why a question of the page is not answered.
package struct InspectorError: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case invalid, noSession, forbidden, notFound, method, gone, tooLarge, busy, disconnected
    }

    package let code: Code
    /// The parameter, or the field of a body; empty for none.
    package let field: String
    package let reason: String

    package init(_ code: Code, field: String = "", _ reason: String) {
        (self.code, self.field, self.reason) = (code, field, reason)
    }

    /// HTTP's.
    package var status: Int {
        switch self.code {
        case .invalid: 400
        case .noSession: 401
        case .forbidden: 403
        case .notFound: 404
        case .method: 405
        case .gone: 409
        case .tooLarge: 413
        case .busy: 429
        case .disconnected: 503
        }
    }

    /// As the page gets it.
    package var answer: some Encodable {
        Answer.Failure(
            error: .init(
                code: self.code.rawValue, reason: self.reason, field: self.field.isEmpty ? nil : self.field))
    }
}

/// The parameters of a question. A parameter that nothing asked for is refused, so that a typing error is seen.
package struct InspectorQuery: Sendable, Hashable {
    /// The longest text of a parameter, in bytes.
    package static let textMax = 1_024
    /// The views of all windows of a browser, in bytes.
    package static let viewsMax = 16_384
    package static let limitRange = 1...500

    private let values: [String: String]

    /// Reads the part of a target behind `?`.
    package init(_ text: String) throws(InspectorError) {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "")
            else { throw InspectorError(.invalid, "the query is not percent-encoded UTF-8") }
            guard values[name] == nil else {
                throw InspectorError(.invalid, field: Self.shown(name), "is given twice")
            }
            let bytesMax = name == "views" ? Self.viewsMax : Self.textMax
            guard value.utf8.count <= bytesMax else {
                throw InspectorError(.invalid, field: Self.shown(name), "must be at most \(bytesMax) bytes")
            }
            values[name] = value
        }
        self.values = values
    }

    /// A query without percent encoding, for programs.
    package init(_ values: [String: String]) { self.values = values }

    private static func decoded(_ text: Substring) -> String? {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    /// A name that is made up is not repeated in full.
    private static func shown(_ name: String) -> String {
        String(
            name.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }.prefix(32).map(
                Character.init))
    }

    /// - Throws: `invalid` if there are others than these.
    func allow(_ names: [String]) throws(InspectorError) {
        for name in self.values.keys.sorted() where !names.contains(name) {
            throw InspectorError(
                .invalid, field: Self.shown(name), "is not one of \(names.joined(separator: ", "))")
        }
    }

    /// nil without it, or if it is empty.
    func text(_ name: String, max: Int = InspectorQuery.textMax) throws(InspectorError) -> String? {
        guard let value = self.values[name], !value.isEmpty else { return nil }
        guard value.count <= max else {
            throw InspectorError(.invalid, field: name, "must be at most \(max) characters")
        }
        return value
    }

    /// - Throws: `invalid` without it.
    func required(_ name: String) throws(InspectorError) -> String {
        guard let value = try self.text(name) else {
            throw InspectorError(.invalid, field: name, "must be there")
        }
        return value
    }

    /// The id of a vehicle.
    ///
    /// - Throws: `invalid` without one.
    func vehicleID(_ name: String = "id") throws(InspectorError) -> VehicleID {
        guard let id = VehicleID(try self.required(name)) else {
            throw InspectorError(.invalid, field: name, "must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        return id
    }

    /// Texts between commas; each one of `allowed`, if that is not nil.
    func list(_ name: String, of allowed: [String]? = nil) throws(InspectorError) -> Set<String> {
        let texts = (try self.text(name) ?? "").split(separator: ",").map(String.init)
        if let allowed {
            for text in texts where !allowed.contains(text) {
                throw InspectorError(
                    .invalid, field: name, "must be of \(allowed.joined(separator: ", "))")
            }
        }
        guard texts.count <= 64 else { throw InspectorError(.invalid, field: name, "has more than 64 parts") }
        return Set(texts)
    }

    func number(
        _ name: String, _ range: ClosedRange<Int>, default fallback: Int
    ) throws(InspectorError) -> Int {
        guard let text = try self.text(name) else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw InspectorError(
                .invalid, field: name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    var limit: Int {
        get throws(InspectorError) { try self.number("limit", Self.limitRange, default: 100) }
    }

    /// Seconds with up to nine decimals, in nanoseconds; nil without it.
    func nanoseconds(_ name: String) throws(InspectorError) -> UInt64? {
        guard let text = try self.text(name) else { return nil }
        let wrong = InspectorError(
            .invalid, field: name, "must be seconds since the beginning, e.g. 63.25, up to 10 years")
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let seconds = UInt64(parts[0]), seconds <= 315_360_000
        else { throw wrong }
        guard parts.count > 1 else { return seconds * 1_000_000_000 }
        guard (1...9).contains(parts[1].count), let digits = UInt64(parts[1]) else { throw wrong }
        let factor = (parts[1].count..<9).reduce(UInt64(1)) { factor, _ in factor * 10 }
        return seconds * 1_000_000_000 + digits * factor
    }

    /// One of some words; nil without it.
    func word(_ name: String, of allowed: [String]) throws(InspectorError) -> String? {
        guard let text = try self.text(name) else { return nil }
        guard allowed.contains(text) else {
            throw InspectorError(.invalid, field: name, "must be one of \(allowed.joined(separator: ", "))")
        }
        return text
    }
}

extension InspectorQuery {
    /// The one parameter that is allowed, which must be there.
    package func only(_ name: String) throws(InspectorError) -> String {
        try self.allow([name])
        return try self.required(name)
    }
}
