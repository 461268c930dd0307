package import Foundation
internal import WaymarkClient
internal import WaymarkGateway
internal import WaymarkLint
package import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Sources as the page gets them.
enum SourceObjects {
    static func object(_ source: InspectedSource) -> Answer.Source {
        let begin = JSON.time(source.begin.date)
        let (from, to) = (source.seconds(source.from), source.seconds(source.end))
        switch source.history {
        case .recent(let recent):
            let gateway = recent.state.gateway
            let kept = Answer.Kept(
                entries: recent.counts.entries, bytes: recent.counts.bytes, bytesMax: recent.byteCountMax,
                dropped: Int(clamping: recent.counts.dropped), missed: Int(clamping: recent.counts.missed),
                contentBytes: gateway.contentByteCount, contentBytesMax: gateway.contentBytesMax,
                sessionsWithoutContent: gateway.sessionsWithoutContent.count)
            return Answer.Source(
                source: source.id, begin: begin, from: from, to: to, kind: "live",
                gateway: self.gateway(source), address: source.name, connection: source.connection,
                kept: kept)
        case .recorded(let recording):
            let gateway = Answer.Gateway(
                showsContent: source.showsContent, instance: recording.origin?.instance ?? "",
                software: recording.origin?.software ?? "")
            return Answer.Source(
                source: source.id, begin: begin, from: from, to: to, kind: "recording", gateway: gateway,
                file: source.name, recording: self.recording(recording))
        }
    }

    private static func gateway(_ source: InspectedSource) -> Answer.Gateway {
        let start = source.welcome.map { Date(timeIntervalSince1970: Double($0.gateway.epoch) / 1_000) }
        return Answer.Gateway(
            showsContent: source.showsContent, instance: source.welcome?.gateway.instance.rawValue,
            software: source.welcome?.software, start: start.map(JSON.time))
    }

    private static func recording(_ recording: Recording) -> Answer.Recording {
        let origin = recording.origin
        return Answer.Recording(
            bytes: Int(clamping: recording.source.byteCount), whole: recording.index.isWhole,
            messages: Int(clamping: recording.index.statistics.messageCount),
            damagedChunks: recording.index.damagedChunkCount, redacted: origin?.isRedacted,
            visibility: origin?.visibility, recorder: origin?.recorder, run: origin?.run?.values)
    }
}

/// Names of the protocol, for menus and legends.
enum ProtocolNames {
    static var answer: Answer.Names {
        Answer.Names(
            maneuverTypes: self.names(ManeuverType.self), laneStatuses: self.names(LaneStatus.self),
            routeSources: self.names(RouteSource.self), clusterSettings: self.names(ClusterSetting.self),
            contentStyles: self.names(ContentStyle.self), stopKinds: self.names(StopKind.self),
            junctionTypes: self.names(JunctionType.self), distanceUnits: self.names(DistanceUnit.self),
            zoomDirections: self.names(ZoomDirection.self),
            outcomes: RequestResult.allCases.map { result in
                .init(
                    name: Outcome(rawValue: result.rawValue).map { "\($0)" } ?? "\(result)",
                    text: result.explanation)
            },
            features: GuidanceFeature.allCases.map { .init(name: $0.rawValue, text: $0.phrase) },
            withholdingReasons: WithholdingReason.allCases.map { .init(name: $0.rawValue, text: $0.phrase) },
            reasons: Reason.Kind.allCases.map(\.rawValue),
            eventKinds: GatewayEvent.Kind.allCases.map(\.rawValue), entryKinds: EntryFilter.kinds,
            messages: MessageType.allCases.map { "\($0)" },
            lintRules: LintID.allCases.map { .init(rule: $0.rawValue, sentence: $0.sentence) })
    }

    private static func names<Value: WireEnumeration>(_ type: Value.Type) -> [Answer.NumberedName] {
        type.allKnown.map { .init(name: $0.name, raw: Int($0.rawValue)) }
    }

    /// The profiles that ship, and what profiles can say.
    static func answer(_ profiles: [Answer.Profile]) -> Answer.Profiles {
        let texts = [
            "alertText", "currentRoadName", "destinationName", "laneInstruction", "maneuverInstruction",
            "roadFollowingManeuver",
        ]
        let others = [
            "frameBytes": "bytes", "laneGuidancesStored": "lane guidances", "maneuversStored": "maneuvers",
            "routeSegmentPoints": "points",
        ]
        let units = Dictionary(texts.map { ($0, "characters") }) { $1 }.merging(others) { $1 }
        return Answer.Profiles(
            profiles: profiles, features: Profile.contentFeatures.map { "\($0)" },
            limits: units.mapValues { .init(unit: $0, max: Int(UInt32.max)) },
            distanceUnits: DistanceUnits.allKnown.map(\.name))
    }
}

extension EndpointRecord {
    /// An endpoint that is not there, in a session. `others`: those of the vehicle, from which the same is withheld by the operator's
    /// policy, or without consent.
    static func preview(
        of profile: ClusterProfile, _ session: SessionRecord?, _ client: ClientRecord?,
        _ others: [EndpointRecord]
    ) throws(ClientError) -> EndpointRecord {
        var configuration = VehicleEndpoint.Configuration(vehicle: "preview", endpoint: "preview")
        (configuration.withoutFeatures, configuration.limits) = (profile.without, profile.limits)
        configuration.receiveFrameBytesMax = profile.receiveFrameBytesMax
        (configuration.distanceUnits, configuration.locale) = (profile.distanceUnits, profile.locale)
        // Without these the endpoint would not ask for shares and prompts.
        configuration.onPrompt = { _ in false }
        configuration.onDestination = { _ in false }
        let hello = try VehicleHello(configuration)
        var record = EndpointRecord(hello.endpoint)
        (record.features, record.limits) = (hello.features, hello.limits)
        (record.preferences, record.receiveFrameBytesMax) = (hello.preferences, hello.receiveFrameBytesMax)
        record.session = session?.session ?? .none
        for feature in Profile.contentFeatures {
            if !record.features.contains(feature) {
                record.withheld.append(FeatureGrant(feature, withheld: .notRequested))
            } else if let client, !client.granted.contains(feature) {
                record.withheld.append(FeatureGrant(feature, withheld: .clientDoesNotProvide))
            } else if let grant = others.lazy.flatMap(\.withheld).first(where: {
                $0.feature == feature && [.policy, .noConsent].contains($0.withheld)
            }) {
                record.withheld.append(grant)
            }
        }
        return record
    }
}

/// How two JSON values differ, by path.
struct JSONDifferences {
    static let countMax = 200

    private(set) var found: [Answer.Difference] = []
    private(set) var isTruncated = false

    mutating func find(_ mine: Any?, _ theirs: Any?, _ path: String = "") {
        switch (mine, theirs) {
        case (let mine as [String: Any], let theirs as [String: Any]):
            for key in Set(mine.keys).union(theirs.keys).sorted() {
                self.find(mine[key], theirs[key], path.isEmpty ? key : "\(path)/\(key)")
            }
        case (let mine as [[String: Any]], let theirs as [[String: Any]]):
            self.findElements(mine, theirs, path)
        default:
            let (old, new) = (mine as? NSObject, theirs as? NSObject)
            guard old != nil || new != nil, old?.isEqual(new) != true else { return }
            guard self.found.count < Self.countMax else { return self.isTruncated = true }
            self.found.append(
                Answer.Difference(
                    path: path, a: mine.map { JSONPart($0) }, b: theirs.map { JSONPart($0) }))
        }
    }

    /// Elements with ids are compared by these, others by their places.
    private mutating func findElements(_ mine: [[String: Any]], _ theirs: [[String: Any]], _ path: String) {
        func name(_ element: [String: Any], _ index: Int) -> String {
            (element["id"] ?? element["maneuver"]).map { "\($0)" } ?? "\(index)"
        }
        let olds = Dictionary(mine.enumerated().map { (name($1, $0), $1) }) { $1 }
        let news = Dictionary(theirs.enumerated().map { (name($1, $0), $1) }) { $1 }
        for key in Set(olds.keys).union(news.keys).sorted() {
            self.find(olds[key], news[key], "\(path)/\(key)")
        }
    }
}

/// The fields of a JSON object in a request.
package struct JSONFields {
    private let values: [String: Any]

    /// - Throws: `invalid` for what is no object, or has a field that is not allowed.
    package init(_ body: Data, allowed: [String]) throws(InspectorError) {
        let json: Any
        do { json = try JSONSerialization.jsonObject(with: body) } catch {
            throw InspectorError(.invalid, "the body is not JSON")
        }
        guard let values = json as? [String: Any] else {
            throw InspectorError(.invalid, "the body must be a JSON object")
        }
        for name in values.keys where !allowed.contains(name) {
            throw InspectorError(
                .invalid, field: String(name.prefix(32)), "is not one of \(allowed.joined(separator: ", "))")
        }
        self.values = values
    }

    package func has(_ name: String) -> Bool { self.values[name] != nil }

    package func text(_ name: String, max: Int) throws(InspectorError) -> String {
        guard let text = self.values[name] as? String, !text.isEmpty, text.utf8.count <= max else {
            throw InspectorError(.invalid, field: name, "must be a text of 1 to \(max) bytes")
        }
        return text
    }

    package func word(_ name: String, of allowed: [String]) throws(InspectorError) -> String {
        guard let text = self.values[name] as? String, allowed.contains(text) else {
            throw InspectorError(.invalid, field: name, "must be one of \(allowed.joined(separator: ", "))")
        }
        return text
    }

    package func flag(_ name: String) throws(InspectorError) -> Bool {
        guard let flag = self.values[name] as? Bool else {
            throw InspectorError(.invalid, field: name, "must be true or false")
        }
        return flag
    }

    /// Seconds, as text for a query.
    func number(_ name: String) throws(InspectorError) -> String {
        guard let number = self.values[name] as? NSNumber, number.doubleValue.isFinite,
            (0...315_360_000).contains(number.doubleValue)
        else { throw InspectorError(.invalid, field: name, "must be a number of seconds") }
        return String(format: "%.9f", number.doubleValue)
    }

    /// A whole number.
    package func number(_ name: String, _ range: ClosedRange<Int>) throws(InspectorError) -> Int {
        guard let number = self.values[name] as? Int, range.contains(number) else {
            throw InspectorError(
                .invalid, field: name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A value as JSON.
    package func data(_ name: String) throws(InspectorError) -> Data {
        guard let object = self.values[name] as? [String: Any] else {
            throw InspectorError(.invalid, field: name, "must be an object")
        }
        return JSON.data(object)
    }

    /// A place: an object with `center`, and perhaps `nameVariants`.
    package func waypoint(_ name: String) throws(InspectorError) -> Waypoint {
        let fields: JSONFields
        do throws(InspectorError) {
            fields = try JSONFields(try self.data(name), allowed: ["center", "nameVariants"])
        } catch {
            throw InspectorError(
                error.code,
                field: error.field == name || error.field.isEmpty ? name : "\(name).\(error.field)",
                error.reason)
        }
        guard let center = fields.values["center"] as? [Double], center.count == 2,
            (-90...90).contains(center[0]), (-180...180).contains(center[1])
        else {
            throw InspectorError(
                .invalid, field: "\(name).center", "must be [latitude, longitude] in degrees")
        }
        var waypoint = Waypoint(center: Coordinate(latitude: center[0], longitude: center[1]))
        guard fields.has("nameVariants") else { return waypoint }
        guard let names = fields.values["nameVariants"] as? [String], names.count <= 8,
            names.allSatisfy({ (1...256).contains($0.utf8.count) })
        else {
            throw InspectorError(
                .invalid, field: "\(name).nameVariants", "must be at most 8 texts of 1 to 256 bytes")
        }
        waypoint.nameVariants = names
        return waypoint
    }
}
