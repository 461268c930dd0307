internal import Foundation
internal import ProcessIO
public import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkGateway
public import WaymarkLint
public import WaymarkModel
internal import WaymarkProtocol
public import WaymarkRoutes
internal import WaymarkScenario
internal import WaymarkTexts

/// The routes and profiles that ship, which scenarios name.
enum ShippedFiles {
    typealias File = (name: String, bytes: [UInt8])

    static let routes: [File] = [
        ("heidelberg-lanes", PackageResources.heidelberg_lanes_json),
        ("singapore-left-hand", PackageResources.singapore_left_hand_json),
        ("vaduz-balzers", PackageResources.vaduz_balzers_json),
        ("vaduz-balzers-charging", PackageResources.vaduz_balzers_charging_json),
        ("vaduz-balzers-limits", PackageResources.vaduz_balzers_limits_json),
    ]

    static let profiles: [File] = [
        ("full", PackageResources.full_json), ("left-hand-traffic", PackageResources.left_hand_traffic_json),
        ("no-lanes", PackageResources.no_lanes_json), ("short-text", PackageResources.short_text_json),
        ("slow-reader", PackageResources.slow_reader_json),
        ("two-maneuvers", PackageResources.two_maneuvers_json),
    ]
}

extension Rig {
    /// A position in a drive.
    public enum Position: Sendable, Hashable {
        /// Metres over all its routes, from 0.
        case meters(Double)
        /// A percentage of its first route, 0 to 100.
        case percent(Double)
        /// The time since it began, at most 8 760 h.
        case time(Duration)

        func checked(_ field: String) throws(RigError) -> Scenario.Position {
            switch self {
            case .meters(let meters):
                guard meters >= 0, meters <= 1e9 else {
                    throw RigError(field, "must be 0 to 1000000000 m")
                }
                return .meters(meters)
            case .percent(let percent):
                guard percent >= 0, percent <= 100 else { throw RigError(field, "must be 0 to 100 %") }
                return .percent(percent)
            case .time(let duration):
                try Check.duration(duration, field)
                return .time(duration)
            }
        }
    }

    /// A route that clients drive.
    public struct Route: Sendable, Hashable {
        let name: String
        private let read: Result<RouteAnswer, RigError>

        /// A route in Heidelberg: turns with lanes.
        public static let heidelbergLanes = Route(shipped: "heidelberg-lanes")
        /// A route in Singapore: traffic drives on the left.
        public static let singaporeLeftHand = Route(shipped: "singapore-left-hand")
        /// A route from Vaduz to Balzers.
        public static let vaduzBalzers = Route(shipped: "vaduz-balzers")
        /// A route from Vaduz to Balzers, with a charging stop.
        public static let vaduzBalzersCharging = Route(shipped: "vaduz-balzers-charging")
        /// A route from Vaduz to Balzers, with the speed limits of its roads.
        public static let vaduzBalzersLimits = Route(shipped: "vaduz-balzers-limits")

        /// Reads the answer of a routing engine from a file: JSON of OSRM, Mapbox, Valhalla or GraphHopper.
        ///
        /// - Throws: ``RigError``, which names the place in the file.
        public init(contentsOf path: String) throws(RigError) {
            let bytes: [UInt8]
            do throws(FileError) { bytes = try FileContent(path: path).bytes } catch {
                throw RigError("route", "\(path) cannot be read: \(error)")
            }
            (self.name, self.read) = (path, Self.answer(bytes, path))
            _ = try self.answer()
        }

        /// A routing engine's answer.
        ///
        /// - Parameters:
        ///   - answer: Its first route is driven.
        ///   - name: For reports, 1 to 1 024 letters.
        /// - Throws: ``RigError`` if it has no route.
        public init(_ answer: RouteAnswer, named name: String) throws(RigError) {
            try Check.text(name, "name", 1...1_024)
            guard !answer.routes.isEmpty else { throw RigError("route", "\(name) has no route") }
            (self.name, self.read) = (name, .success(answer))
        }

        private init(shipped name: String) {
            let bytes = ShippedFiles.routes.first { $0.name == name }?.bytes ?? []
            (self.name, self.read) = (name, Self.answer(bytes, name))
        }

        private static func answer(_ bytes: [UInt8], _ name: String) -> Result<RouteAnswer, RigError> {
            do throws(RouteReadingError) {
                let answer = try RouteReader.read(bytes)
                guard !answer.routes.isEmpty else {
                    return .failure(RigError("route", "\(name) has no route"))
                }
                return .success(answer)
            } catch { return .failure(RigError("route", "\(name): \(error)")) }
        }

        func answer() throws(RigError) -> RouteAnswer { try self.read.get() }
    }

    /// A description of what an endpoint can do.
    public struct Profile: Sendable {
        private let read: Result<ClusterProfile, RigError>

        /// A profile of an endpoint that shows everything, without limits.
        public static let full = Profile(shipped: "full")
        /// A profile for traffic that drives on the left, with distances in yards and miles.
        public static let leftHandTraffic = Profile(shipped: "left-hand-traffic")
        /// A profile without lanes and route segments.
        public static let noLanes = Profile(shipped: "no-lanes")
        /// A profile of a display with few letters a line.
        public static let shortText = Profile(shipped: "short-text")
        /// A profile of an endpoint that takes half a second for each message.
        public static let slowReader = Profile(shipped: "slow-reader")
        /// A profile of an endpoint that stores two maneuvers and one lane guidance.
        public static let twoManeuvers = Profile(shipped: "two-maneuvers")

        /// Reads a profile from a JSON file, as `waymark cluster --profile` takes it.
        ///
        /// - Throws: ``RigError``, which names the key.
        public init(contentsOf path: String) throws(RigError) {
            let bytes: [UInt8]
            do throws(FileError) { bytes = try FileContent(path: path).bytes } catch {
                throw RigError("profile", "\(path) cannot be read: \(error)")
            }
            self.read = Self.profile(bytes, path)
            _ = try self.content()
        }

        /// A profile.
        ///
        /// - Parameters:
        ///   - limits: What it can show and store.
        ///   - withoutFeatures: What the gateway need not send.
        ///   - distanceUnits: In which units it shows distances.
        ///   - locale: Of its user, e.g. `de-LI`; empty: not known.
        ///   - readDelay: How long it spends on each message, at most 8 760 h.
        ///   - receiveFrameBytesMax: The largest frame that it takes; 0: any.
        /// - Throws: ``RigError`` for a wrong `readDelay`.
        public init(
            limits: EndpointLimits = EndpointLimits(), withoutFeatures: Set<GuidanceFeature> = [],
            distanceUnits: DistanceUnits = .asPublished, locale: String = "", readDelay: Duration = .zero,
            receiveFrameBytesMax: UInt32 = 0
        ) throws(RigError) {
            try Check.duration(readDelay, "readDelay")
            var profile = ClusterProfile()
            (profile.limits, profile.without) = (limits, withoutFeatures)
            (profile.distanceUnits, profile.locale, profile.readDelay) = (distanceUnits, locale, readDelay)
            profile.receiveFrameBytesMax = receiveFrameBytesMax
            self.read = .success(profile)
        }

        private init(shipped name: String) {
            self.read = Self.profile(ShippedFiles.profiles.first { $0.name == name }?.bytes ?? [], name)
        }

        private static func profile(_ bytes: [UInt8], _ name: String) -> Result<ClusterProfile, RigError> {
            do { return .success(try ClusterProfile.parse(Data(bytes), name)) } catch {
                return .failure(RigError("profile", "\(error)"))
            }
        }

        func content() throws(RigError) -> ClusterProfile { try self.read.get() }
    }

    /// The settings of the run's gateway that differ from the default. nil: the default, see Docs/configuration.md. Times are at most
    /// 8 760 h.
    public struct GatewaySettings: Sendable, Hashable {
        /// The rule for a second client that wants to guide a vehicle.
        public enum Arbitration: Sendable, Hashable, CaseIterable {
            /// The second client is refused.
            case refuse
            /// The second client takes over.
            case replace
            /// The client with the higher priority guides.
            case priority
        }

        /// A file of waymarkd's settings; its listeners are not used. The other values count before it.
        public var file: String?
        /// The rule for a second client that wants to guide a vehicle.
        public var arbitration: Arbitration?
        /// The time that a client may be away before its sessions end.
        public var grace: Duration?
        /// The time that a client may take to answer a request.
        public var requestTimeout: Duration?
        /// The time that a vehicle's user may take to answer a question.
        public var promptTimeout: Duration?
        /// The time that a vehicle's user may take to answer a destination that a client offers.
        public var shareTimeout: Duration?
        /// The time that a peer may read nothing before its connection is closed.
        public var slowConsumerTimeout: Duration?
        /// The keepalive interval: how often each side sends something.
        public var keepalive: Duration?

        /// The defaults.
        public init() {}

        func scenario() throws(RigError) -> Scenario.PrivateGateway {
            let durations = [
                (self.grace, "gateway.grace"), (self.requestTimeout, "gateway.requestTimeout"),
                (self.promptTimeout, "gateway.promptTimeout"), (self.shareTimeout, "gateway.shareTimeout"),
                (self.slowConsumerTimeout, "gateway.slowConsumerTimeout"),
                (self.keepalive, "gateway.keepalive"),
            ]
            for (duration, field) in durations { try Check.duration(duration, field) }
            var gateway = Scenario.PrivateGateway()
            gateway.arbitration =
                switch self.arbitration {
                case nil: nil
                case .refuse: .refuse
                case .replace: .replace
                case .priority: .priority
                }
            (gateway.grace, gateway.request, gateway.prompt) = (
                self.grace, self.requestTimeout, self.promptTimeout
            )
            (gateway.share, gateway.slowConsumer, gateway.keepalive) = (
                self.shareTimeout, self.slowConsumerTimeout, self.keepalive
            )
            return gateway
        }

        func settings() throws(RigError) -> Settings? {
            guard let file else { return nil }
            let bytes: [UInt8]
            do throws(FileError) { bytes = try FileContent(path: file).bytes } catch {
                throw RigError("gateway.file", "\(file) cannot be read: \(error)")
            }
            do throws(ConfigurationError) { return try Configuration.read(bytes, file: file) } catch {
                throw RigError("gateway.file", "\(error)")
            }
        }
    }

    /// A finding of a lint rule: probably a mistake of a peer.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The rule, see Docs/lint.md.
        public let rule: LintID
        /// The peer whose mistake it is; nil if it is not known.
        public let peer: PeerName?
        /// The time since the run began.
        public let time: Duration
        /// A description of what was seen, with its values.
        public let text: String

        init?(_ finding: ReportedLint.Finding, of lint: ReportedLint) {
            guard let rule = LintID(rawValue: lint.rule) else { return nil }
            self.rule = rule
            self.peer = finding.peer.map { PeerName(of: $0) }
            self.time = finding.instant - Instant(nanoseconds: 0)
            self.text = finding.text
        }

        /// The rule, the peer and what was seen, in a line.
        public var description: String { "\(self.rule)  \(self.peer.map { "\($0): " } ?? "")\(self.text)" }
    }
}
