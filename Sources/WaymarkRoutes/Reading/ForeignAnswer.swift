/// Recognises formats that are not supported, to name them in the error.
enum ForeignAnswer {
    // MARK: Bytes

    /// The format of `bytes` if it is not JSON in UTF-8, and what to do about it; nil if they may be JSON.
    static func reason(_ bytes: [UInt8]) -> String? {
        for (start, name) in self.compressed where bytes.starts(with: start) {
            return "this is compressed with \(name): unpack it first"
        }
        // Why first: UTF-32 in little-endian order begins with the mark of UTF-16.
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
            return self.encoded("UTF-32")
        }
        let isUTF16 =
            bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || (bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0))
        if isUTF16 { return self.encoded("UTF-16") }
        return self.document(bytes)
    }

    private static let compressed: [(start: [UInt8], name: String)] = [
        ([0x1F, 0x8B], "gzip"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd"), ([0x42, 0x5A, 0x68], "bzip2"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz"), ([0x50, 0x4B, 0x03, 0x04], "zip"),
    ]

    private static func encoded(_ name: String) -> String {
        "this is \(name), and JSON is UTF-8: convert it first, e.g. with iconv -f \(name) -t UTF-8"
    }

    /// The format of a text, recognised by its first words.
    private static func document(_ bytes: [UInt8]) -> String? {
        let start = String(decoding: bytes.prefix(2_000), as: UTF8.self).lowercased()
        let text = start.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if text.hasPrefix("http/") { return "an HTTP header comes first: save the answer's body alone" }
        guard text.hasPrefix("<") else { return nil }
        let names = [
            ("<!doctype html", "an HTML page"), ("<html", "an HTML page"), ("<gpx", "GPX"), ("<kml", "KML"),
            ("<osm", "OpenStreetMap XML"),
        ]
        let name = names.first { text.contains($0.0) }?.1 ?? "XML"
        return "this is \(name)"
    }

    // MARK: Answers

    /// The engine or the kind of an unsupported answer; nil for one that may be supported or is unknown.
    static func name(of answer: JSONNode) -> String? {
        self.engine(answer) ?? self.kind(answer)
    }

    /// The engine of an unsupported answer; nil for a supported form and for an unknown one.
    static func engine(_ answer: JSONNode) -> String? {
        self.engineName(answer).map { "this is an answer of \($0)" }
    }

    private static func engineName(_ answer: JSONNode) -> String? {
        let route = answer["routes"]?.elements?.first
        // Why: in OSRM's form this is an object, and its relatives may add members of any name.
        if route?.elements("legs").first?.elements("steps").first?["maneuver"]?.isObject ?? false {
            return nil
        }
        let attribution = answer["metadata"]?["attribution"]?.string ?? ""
        if attribution.contains("openrouteservice") { return "OpenRouteService" }
        if answer["formatVersion"] != nil { return "TomTom Routing, or of Azure Maps in the same form" }
        if answer["geocoded_waypoints"] != nil { return "Google Directions" }
        if answer["stepPaths"] != nil { return "Apple Maps" }
        if answer["resourceSets"] != nil { return "Bing Maps" }
        if answer["response"]?["route"] != nil { return "HERE Routing 7" }
        if answer["route"]?["legs"] != nil { return "MapQuest" }
        if let route { return self.engine(ofRoute: route) }
        return answer["type"]?.string == "FeatureCollection" ? self.engine(ofFeatures: answer) : nil
    }

    /// Recognised by members that OSRM's form does not have.
    private static func engine(ofRoute route: JSONNode) -> String? {
        let leg = route.elements("legs").first
        let step = leg?.elements("steps").first
        if route["segments"]?.elements != nil { return "OpenRouteService" }
        if route["sections"]?.elements != nil, leg == nil { return "HERE Routing 8" }
        if leg?["points"]?.elements != nil || route["summary"]?["lengthInMeters"] != nil {
            return "TomTom Routing, or of Azure Maps in the same form"
        }
        if route["overview_polyline"] != nil || step?["html_instructions"] != nil {
            return "Google Directions"
        }
        let isGoogleRoutes =
            route["polyline"]?["encodedPolyline"] != nil || route["distanceMeters"] != nil
            || leg?["startLocation"] != nil || step?["navigationInstruction"] != nil
        return isGoogleRoutes ? "Google Routes" : nil
    }

    private static func engine(ofFeatures answer: JSONNode) -> String? {
        for feature in answer.elements("features").prefix(20) {
            guard let properties = feature["properties"] else { continue }
            if properties["segments"]?.elements != nil { return "OpenRouteService" }
            if properties["routePathPoint"] != nil || properties["instruction"]?["maneuverType"] != nil
                || properties["steps"]?.elements?.first?["routePathPoint"] != nil
                || properties["type"]?.string == "RoutePath"
            {
                return "Azure Maps"
            }
            if properties["creator"]?.string?.hasPrefix("BRouter") ?? false { return "BRouter" }
        }
        return nil
    }

    /// The kind of an answer to a request that was not for a route.
    private static func kind(_ answer: JSONNode) -> String? {
        let hasTable = answer["durations"] != nil || answer["distances"] != nil || answer["times"] != nil
        if answer["route_geometry"] != nil || answer["route_instructions"] != nil {
            return "this is OSRM's form of before 2016: ask for /route/v1"
        }
        if answer["sources_to_targets"] != nil || hasTable {
            return "this is a table of times or distances, without a route"
        }
        if answer["edges"] != nil || answer["matched_points"] != nil {
            return "this is Valhalla's trace_attributes: ask for trace_route"
        }
        if answer["height"] != nil || answer["range_height"] != nil { return "these are heights, no route" }
        if answer["polygons"] != nil { return "this is an isochrone, no route" }
        switch answer["type"]?.string {
        case "FeatureCollection", "Feature":
            return "this is GeoJSON, which has no maneuvers in a form that is known"
        case "Topology": return "this is TopoJSON"
        default: break
        }
        return answer["code"]?.string == "Ok" && answer["waypoints"] != nil
            ? "these are the nearest roads, no route" : nil
    }
}
