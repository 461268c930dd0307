import WaymarkProtocol

/// How this library reads values that the page lets a receiver read in another way than they are written.
enum Reading {
    static func of(_ json: JSON, _ message: String) -> JSON {
        var json = self.angles(self.instants(self.withoutUnknown(json)))
        switch message {
        case "Hello": self.readHello(&json)
        case "Welcome":
            json["features"] = self.grants(json["features"])
            json["negotiated_limits"] = self.limits(json["negotiated_limits"] ?? .object([:]))
            json["sessions"] = self.each(json["sessions"]) {
                self.phase(self.close($0, "end_reason", SessionEndReason.self))
            }
            json = self.known(json, "visibility", last: Double(Visibility.all.rawValue), otherwise: nil)
        case "Goodbye":
            json = self.close(json, "code", CloseCode.self, otherwise: CloseCode.internalError)
            json["moved_to"] = nil  // Reserved.
            self.readLimit(&json)
        // One time alone says nothing.
        case "Pong" where json["received_nanoseconds"] == nil || json["sent_nanoseconds"] == nil:
            (json["received_nanoseconds"], json["sent_nanoseconds"]) = (nil, nil)
        case "Error":
            json = self.close(json, "code", ErrorCode.self, otherwise: ErrorCode.inconsistent)
            self.readLimit(&json)
        case "SessionOpened": json["vehicles"] = self.each(json["vehicles"], self.status)
        case "VehicleChanged": json["vehicle"] = json["vehicle"].map(self.status)
        case "SessionEnded": json = self.close(json, "reason", SessionEndReason.self)
        case "SnapshotBegin": json["withheld"] = self.grants(json["withheld"])
        case "CancelNavigation":
            json = self.close(json, "reason", CancelReason.self, otherwise: CancelReason.userStopped)
        case "PromptOver", "RequestOutcome", "DestinationShareAnswer", "DestinationShareStatus":
            json = self.close(json, "outcome", Outcome.self, otherwise: Outcome.invalid)
            // A cause that is not known is not said.
            if message == "RequestOutcome" {
                let last = Double(OutcomeCause.allCases.map(\.rawValue).max() ?? 0)
                json = self.known(json, "cause", last: last, otherwise: nil)
            }
            // WILL_SHARE stands for a later stage.
            if message == "DestinationShareStatus" { json = self.known(json, "stage", last: 3, otherwise: 1) }
        case "RequestAnswer": json = self.close(json, "reason", Outcome.self, otherwise: Outcome.invalid)
        case "ShowAlert":
            if var alert = json["alert"], let duration = alert["duration_milliseconds"]?.number,
                duration < 5_000
            {
                alert["duration_milliseconds"] = .number(5_000)
                json["alert"] = alert
            }
        case "ObservedRecords":
            json["vehicles"] = self.each(json["vehicles"]) { vehicle in
                var vehicle = vehicle
                vehicle["endpoints"] = self.each(vehicle["endpoints"], self.endpoint)
                if var feedback = vehicle["route_feedback"] {
                    feedback["vehicle_id"] = nil  // The record has it.
                    vehicle["route_feedback"] = feedback
                }
                return vehicle
            }
            json["clients"] = self.each(json["clients"]) { self.features($0, in: "granted") }
            json["sessions"] = self.each(json["sessions"]) { self.phase(self.features($0, in: "opted_out")) }
            // ASKED stands for a later stage.
            json["requests"] = self.each(json["requests"]) { self.known($0, "stage", last: 3, otherwise: 1) }
        case "AddRouteSegments": json = self.withoutEmptyLines(json)
        default: break
        }
        return json
    }

    static func withoutUnknown(_ json: JSON) -> JSON {
        switch json {
        case .list(let list): .list(list.map(self.withoutUnknown))
        case .object(let object): .object(object.filter { $0.key != "?" }.mapValues(self.withoutUnknown))
        case _: json
        }
    }

    private static func each(_ list: JSON?, _ read: (JSON) -> JSON) -> JSON? {
        list.map { .list($0.list.map(read)) }
    }

    /// A value without the name of its limit says nothing.
    private static func readLimit(_ json: inout JSON) {
        if json["limit"] == nil { json["limit_value"] = nil }
    }

    private static func readHello(_ json: inout JSON) {
        if var vehicle = json["vehicle"] {
            vehicle["features"] = self.features(vehicle["features"])
            vehicle["limits"] = vehicle["limits"] ?? .object([:])
            vehicle["preferences"] = vehicle["preferences"] ?? .object([:])
            json["vehicle"] = vehicle
        }
        if var navigation = json["navigation"] {
            navigation["features"] = self.features(navigation["features"])
            json["navigation"] = navigation
        }
        json["negotiated_limits"] = json["negotiated_limits"].map(self.limits)
    }

    private static func features(_ list: JSON?) -> JSON? {
        let numbers = (list?.list ?? []).compactMap(\.number)
        let known = Set(numbers.filter { Feature(rawValue: UInt32($0)) != nil })
        return known.isEmpty ? nil : .list(known.sorted().map(JSON.number))
    }

    private static func features(_ json: JSON, in field: String) -> JSON {
        var json = json
        json[field] = self.features(json[field])
        return json
    }

    private static func endpoint(_ json: JSON) -> JSON {
        var json = self.features(json, in: "features")
        for field in ["limits", "preferences", "settings"] { json[field] = json[field] ?? .object([:]) }
        json["withheld"] = self.grants(json["withheld"])
        if var delays = json["delays"] {
            for field in ["received", "shown"] { delays[field] = delays[field] ?? .object([:]) }
            json["delays"] = delays
        }
        return json
    }

    /// Times that are no instants, and keep all their bits.
    private static let durations: Set = [
        "received_delay_microseconds", "shown_delay_microseconds", "total_microseconds",
        "last_microseconds", "round_trip_microseconds",
    ]

    /// Instants of a gateway's clock have 63 bits of nanoseconds.
    private static func instants(_ json: JSON) -> JSON {
        switch json {
        case .list(let list): return .list(list.map(self.instants))
        case .object(let object):
            let latest = UInt64(Int64.max / 1_000)
            return .object(
                Dictionary(
                    uniqueKeysWithValues: object.map { key, value in
                        guard key.hasSuffix("_microseconds"), !self.durations.contains(key),
                            let instant = UInt64(value.text)
                        else {
                            return (key, self.instants(value))
                        }
                        return (key, .text("\(min(instant, latest))"))
                    }))
        case _: return json
        }
    }

    /// Of the angles 180 and -180, which are the same, the model has -180.
    private static func angles(_ json: JSON, _ key: String = "") -> JSON {
        switch json {
        case .list(let list): return .list(list.map { self.angles($0, key) })
        case .object(let object):
            return .object(
                Dictionary(uniqueKeysWithValues: object.map { ($0.key, self.angles($0.value, $0.key)) }))
        case .number(180) where key.hasSuffix("angle_degrees") || key.hasSuffix("angles_degrees"):
            return .number(-180)
        case _: return json
        }
    }

    private static func grants(_ list: JSON?) -> JSON? {
        let known = (list?.list ?? []).filter { Feature(rawValue: UInt32($0["feature"]?.number ?? 0)) != nil }
        let read = known.map {
            self.close($0, "reason", WithheldReason.self, otherwise: WithheldReason.policy)
        }
        return read.isEmpty ? nil : .list(read)
    }

    private static func limits(_ json: JSON) -> JSON {
        let page = [
            ("vehicles_per_session_max", 256.0), ("extension_states_max", 64), ("route_segments_max", 65),
            ("coordinates_max", 262_144),
        ]
        return page.reduce(into: json) { $0[$1.0] = $0[$1.0] ?? .number($1.1) }
    }

    private static func status(_ json: JSON) -> JSON {
        var json = self.close(json, "refusal", ErrorCode.self, otherwise: ErrorCode.inconsistent)
        json = self.close(json, "end_reason", SessionEndReason.self)
        // AWAITED stands for a later standing.
        json = self.known(json, "standing", last: 4, otherwise: 2)
        json["endpoints"] = self.each(json["endpoints"]) { endpoint in
            var endpoint = endpoint
            endpoint["withheld"] = self.grants(endpoint["withheld"])
            return endpoint
        }
        return json
    }

    static func withoutEmptyLines(_ json: JSON) -> JSON {
        var json = json
        json["segments"] = self.each(json["segments"]) { segment in
            var segment = segment
            if segment["coordinates"]?["latitude_e6_deltas"] == nil { segment["coordinates"] = nil }
            return segment
        }
        return json
    }

    /// ACTIVE stands for a later phase.
    private static func phase(_ json: JSON) -> JSON {
        self.known(
            json, "phase", last: Double(SessionPhase.ended.rawValue),
            otherwise: Double(SessionPhase.active.rawValue))
    }

    /// A value above the last known one is read as another one, or as none.
    private static func known(_ json: JSON, _ field: String, last: Double, otherwise: Double?) -> JSON {
        guard let number = json[field]?.number, number > last else { return json }
        var json = json
        json[field] = otherwise.map(JSON.number)
        return json
    }

    /// A value that the enumeration does not have is read as another one.
    private static func close<Value: RawRepresentable<UInt32>>(
        _ json: JSON, _ field: String, _ type: Value.Type, otherwise: Value? = nil
    ) -> JSON {
        guard let number = json[field]?.number, Value(rawValue: UInt32(number)) == nil else { return json }
        var json = json
        json[field] = .number(Double(otherwise?.rawValue ?? 2_147_483_647))
        return json
    }
}
