// swift-tools-version: 6.2
import PackageDescription

let testing: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatAllWarnings(as: .error),
]

// Tests are not optimized: that would take longer than they run.
let tests = testing + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

let strict = testing + [.strictMemorySafety()]

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let orderedCollections: Target.Dependency = .product(
    name: "OrderedCollections", package: "swift-collections")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "waymark",
    products: [
        .library(name: "WaymarkModel", targets: ["WaymarkModel"]),
        .library(name: "WaymarkClient", targets: ["WaymarkClient"]),
        .library(name: "WaymarkRoutes", targets: ["WaymarkRoutes"]),
        .library(name: "WaymarkRig", targets: ["WaymarkRig"]),
        .executable(name: "waymarkd", targets: ["waymarkd"]),
        .executable(name: "waymark", targets: ["waymark"]),
    ],
    traits: [
        .trait(
            name: "ServiceLifecycle",
            description:
                "Makes NavigationClient, VehicleEndpoint and Observer services of swift-service-lifecycle."),
        .trait(
            name: "Inspector",
            description:
                "Serves pages and metrics over HTTP on this machine. Without it there is no HTTP server to build."
        ),
        .default(enabledTraits: ["ServiceLifecycle", "Inspector"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // System libraries and generated code.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c", providers: [.apt(["libprotobuf-c-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CWaymarkWire", dependencies: ["CProtobufC"]),

        .target(name: "Systemd", dependencies: ["CSystemd"], swiftSettings: strict),
        .target(name: "WaymarkModel", swiftSettings: strict),
        .target(name: "WaymarkTelemetry", swiftSettings: strict),
        .target(name: "StateCoding", swiftSettings: strict),
        .target(name: "ProcessIO", swiftSettings: strict),
        .target(name: "WaymarkAccess", swiftSettings: strict),
        .target(
            name: "NetworkErrors", dependencies: ["ProcessIO", nioCore, nioPosix], swiftSettings: strict),

        .target(name: "WaymarkProtocol", dependencies: ["WaymarkModel"], swiftSettings: strict),

        .target(
            name: "WaymarkGateway",
            dependencies: [
                "WaymarkAccess", "WaymarkProtocol", "WaymarkModel", orderedCollections,
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ], swiftSettings: strict),
        .target(
            name: "WaymarkCodec",
            dependencies: ["CWaymarkWire", "CProtobufC", "WaymarkProtocol", "WaymarkModel"],
            swiftSettings: strict),
        .target(
            name: "WaymarkConfiguration",
            dependencies: [
                "WaymarkAccess", "WaymarkProtocol", "WaymarkGateway", .product(name: "Yams", package: "Yams"),
            ], swiftSettings: strict),

        .target(
            name: "WaymarkRecording",
            dependencies: ["ProcessIO", "WaymarkCodec", "WaymarkProtocol"],
            resources: [.embedInCode("Generated/waymark.v1.binpb")], swiftSettings: strict),
        .target(
            name: "WaymarkObservation",
            dependencies: [
                "WaymarkAccess", "WaymarkCodec", "WaymarkGateway", "WaymarkModel", "WaymarkProtocol",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict),
        .target(
            name: "WaymarkConnections",
            dependencies: [
                "WaymarkAccess", "WaymarkCodec", "WaymarkGateway", "WaymarkObservation", "WaymarkProtocol",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict),
        .target(
            name: "ListeningSockets",
            dependencies: [
                "ProcessIO", "WaymarkTelemetry", nioCore, logging,
            ], swiftSettings: strict),
        .target(
            name: "WaymarkTransport",
            dependencies: [
                "ListeningSockets", "WaymarkAccess", "WaymarkConnections", "NetworkErrors", "ProcessIO",
                "WaymarkProtocol",
                "WaymarkGateway", "WaymarkCodec", "WaymarkObservation",
                "WaymarkTelemetry", nioCore,
                nioPosix, logging,
            ], swiftSettings: strict),
        .target(
            name: "WaymarkWeb",
            dependencies: [
                "ListeningSockets", "NetworkErrors", nioCore, nioPosix, logging,
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
                .product(
                    name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Inspector"])),
                .product(
                    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Inspector"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Inspector"])),
                .product(
                    name: "NIOHTTPTypes", package: "swift-nio-extras",
                    condition: .when(traits: ["Inspector"])),
            ], swiftSettings: strict),
        .target(
            name: "WaymarkRoutes", dependencies: ["ProcessIO", "WaymarkProtocol", "WaymarkModel"],
            swiftSettings: strict),

        .target(
            name: "WaymarkClient",
            dependencies: [
                "NetworkErrors", "WaymarkProtocol", "WaymarkCodec", "WaymarkModel", nioCore, nioPosix,
                logging,
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ], swiftSettings: strict),
        .target(
            name: "WaymarkHistory",
            dependencies: [
                "WaymarkClient", "WaymarkCodec", "WaymarkProtocol", "WaymarkRecording",
            ], swiftSettings: strict),
        .target(
            name: "WaymarkTexts",
            dependencies: [
                "ProcessIO", "WaymarkClient", "WaymarkHistory", "WaymarkModel", "WaymarkProtocol",
                "WaymarkRecording",
            ], swiftSettings: strict),
        .target(
            name: "WaymarkLint",
            dependencies: [
                "WaymarkClient", "WaymarkHistory", "WaymarkModel", "WaymarkProtocol", "WaymarkRecording",
                "WaymarkRoutes",
            ], swiftSettings: strict),
        .target(
            name: "WaymarkGuidance",
            dependencies: [
                "WaymarkModel", "WaymarkProtocol", "WaymarkRoutes",
            ], swiftSettings: strict),
        .target(
            name: "ExpectedState",
            dependencies: [
                "WaymarkGateway", "WaymarkModel", "WaymarkProtocol",
            ], swiftSettings: strict),
        .target(
            name: "GatewayInMemory",
            dependencies: [
                "StateCoding", "WaymarkAccess", "WaymarkCodec", "WaymarkConnections", "WaymarkGateway",
                "WaymarkProtocol",
            ], swiftSettings: strict),
        .target(
            name: "WaymarkScenario",
            dependencies: [
                "ExpectedState", "ProcessIO", "WaymarkClient", "WaymarkConfiguration", "WaymarkGateway",
                "WaymarkHistory", "WaymarkModel", "WaymarkProtocol", .product(name: "Yams", package: "Yams"),
            ], swiftSettings: strict),

        .target(
            name: "WaymarkFaults",
            dependencies: [
                "WaymarkCodec", "WaymarkHistory", "WaymarkProtocol", "WaymarkScenario", "WaymarkTexts",
            ], swiftSettings: strict),
        .target(
            name: "WaymarkRig",
            dependencies: [
                "GatewayInMemory", "WaymarkFaults", "WaymarkGuidance", "WaymarkHistory", "WaymarkLint",
                "WaymarkScenario",
                "WaymarkTexts", "ProcessIO", "WaymarkClient", "WaymarkCodec", "WaymarkConfiguration",
                "WaymarkGateway", "WaymarkModel", "WaymarkProtocol", "WaymarkRecording", "WaymarkRoutes",
                .product(name: "Yams", package: "Yams"),
            ], resources: [.embedInCode("API/Shipped")], swiftSettings: strict),
        .target(
            name: "WaymarkInspector",
            dependencies: [
                "WaymarkHistory", "WaymarkLint", "WaymarkTexts", "WaymarkClient", "WaymarkCodec",
                "WaymarkGateway", "WaymarkModel",
                "WaymarkProtocol", "WaymarkRecording", "WaymarkRoutes",
            ], resources: [.copy("Resources")], swiftSettings: strict),
        .target(
            name: "WaymarkInspectorServer",
            dependencies: [
                "CZlib", "ListeningSockets", "WaymarkClient", "WaymarkCodec", "WaymarkInspector",
                "WaymarkModel",
                "WaymarkProtocol", "WaymarkRecording", "WaymarkTexts", "WaymarkWeb",
                nioCore,
                .product(
                    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Inspector"])),
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
            ], swiftSettings: strict),
        .target(
            name: "WaymarkRigSockets",
            dependencies: [
                "ListeningSockets", "WaymarkFaults", "WaymarkHistory", "WaymarkScenario", "NetworkErrors",
                "ProcessIO",
                "WaymarkClient", "WaymarkConfiguration", "WaymarkProtocol", "WaymarkRecording", "WaymarkRig",
                nioCore, nioPosix, logging,
            ], swiftSettings: strict),

        .target(
            name: "WaymarkExporter",
            dependencies: [
                "ListeningSockets", "WaymarkClient", "WaymarkProtocol", "WaymarkTelemetry", "WaymarkWeb",
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
            ], swiftSettings: strict),

        .target(
            name: "WaymarkDaemon",
            dependencies: [
                "ListeningSockets", "CMalloc", "ProcessIO", "StateCoding", "Systemd", "WaymarkAccess",
                "WaymarkTransport",
                "WaymarkConfiguration",
                "WaymarkGateway", "WaymarkProtocol", "WaymarkTelemetry", nioCore, nioPosix, logging,
                lifecycle,
                signals,
            ], swiftSettings: strict),
        .target(
            name: "WaymarkCommandLine",
            dependencies: [
                "ListeningSockets", "WaymarkGuidance", "WaymarkFaults", "WaymarkHistory", "WaymarkLint",
                "WaymarkScenario",
                "WaymarkTexts", "ProcessIO", "WaymarkDaemon", "WaymarkConfiguration", "WaymarkClient",
                "WaymarkExporter",
                "WaymarkInspector", "WaymarkInspectorServer", "WaymarkRoutes", "WaymarkModel",
                "WaymarkWeb", "WaymarkProtocol", "WaymarkRecording", "WaymarkRig", "WaymarkRigSockets",
                "WaymarkTelemetry", arguments, lifecycle,
                logging, signals,
            ], resources: [.copy("Resources")], swiftSettings: strict),

        // Either is both programs: the name that it is started by decides. The Debian package has `waymark` alone.
        .executableTarget(name: "waymarkd", dependencies: ["WaymarkCommandLine"], swiftSettings: strict),
        .executableTarget(name: "waymark", dependencies: ["WaymarkCommandLine"], swiftSettings: strict),

        // The code of Docs/client.md and of the articles. It sees what an app sees: no `package` declarations.
        .executableTarget(
            name: "NavigationClientExample", dependencies: ["WaymarkClient", "WaymarkModel"],
            path: "Docs/examples/navigation-client", packageAccess: false, swiftSettings: strict),
        .executableTarget(
            name: "VehicleEndpointExample", dependencies: ["WaymarkClient", "WaymarkModel"],
            path: "Docs/examples/vehicle-endpoint", packageAccess: false, swiftSettings: strict),
        .target(
            name: "ArticleExamples",
            dependencies: [
                "WaymarkClient", "WaymarkModel", "WaymarkRoutes", logging,
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
                .product(
                    name: "UnixSignals", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            path: "Docs/examples/articles", packageAccess: false, swiftSettings: strict),

        // The code of Docs/rig.md, as tests. Without `testing`: it must compile with the settings that a new package has.
        .testTarget(
            name: "RigExampleTests", dependencies: ["WaymarkRig"], path: "Docs/examples/rig",
            exclude: ["two-maneuvers.scenario.yaml"], packageAccess: false,
            swiftSettings: [.treatAllWarnings(as: .error)]),

        // Docs/performance.md.
        .executableTarget(
            name: "HotPath",
            dependencies: [
                "CAllocations", "ListeningSockets", "WaymarkTransport", "WaymarkGateway", "WaymarkCodec",
                "WaymarkProtocol",
                "WaymarkModel", nioCore, nioEmbedded, logging,
            ], path: "Tests/Benchmarks/HotPath", exclude: ["counts.json"],
            swiftSettings: testing),

        .target(name: "CAllocations", path: "Tests/Benchmarks/CAllocations"),
        .target(name: "CEpoll", path: "Tests/Benchmarks/CEpoll"),
        .target(
            name: "Load",
            dependencies: ["CEpoll", "WaymarkCodec", "WaymarkProtocol", "WaymarkModel"],
            path: "Tests/Benchmarks/Load", swiftSettings: testing),
        .executableTarget(
            name: "waymark-bench", dependencies: ["Load", arguments], path: "Tests/Benchmarks/waymark-bench",
            swiftSettings: testing),
        .executableTarget(name: "waymark-relay", path: "Tests/Benchmarks/waymark-relay"),

        .target(
            name: "Simulation",
            dependencies: [
                "ExpectedState", "GatewayInMemory", "WaymarkAccess", "WaymarkCodec", "WaymarkConnections",
                "WaymarkGateway", "WaymarkModel", "WaymarkObservation", "WaymarkProtocol",
            ], path: "Tests/Simulation", swiftSettings: testing),
        .target(
            name: "RigMutants",
            dependencies: [
                "WaymarkGuidance", "WaymarkLint", "WaymarkModel", "WaymarkProtocol", "WaymarkRig",
                "WaymarkRoutes",
            ],
            path: "Tests/RigMutants", swiftSettings: testing),
        .target(
            name: "RecordedRoutes", dependencies: ["WaymarkRoutes"], path: "Tests/RecordedRoutes",
            exclude: ["routes.txt"],
            swiftSettings: testing),
        .target(
            name: "FaultCells",
            dependencies: [
                "RecordedRoutes",
                "WaymarkGuidance", "WaymarkFaults", "WaymarkHistory", "WaymarkLint", "WaymarkScenario",
                "WaymarkClient",
                "WaymarkConfiguration", "WaymarkModel", "WaymarkProtocol", "WaymarkRig",
                "WaymarkRoutes",
            ],
            path: "Tests/FaultCells", swiftSettings: testing),

        .target(name: "Sweeps", path: "Tests/Sweeps", swiftSettings: testing),
        .target(
            name: "FakeGateway",
            dependencies: ["WaymarkClient", "WaymarkCodec", "WaymarkProtocol", nioCore, nioPosix],
            path: "Tests/FakeGateway", swiftSettings: testing),
        .target(
            name: "WebClient",
            dependencies: [
                "ListeningSockets", "WaymarkWeb", logging, nioCore, nioEmbedded, nioPosix,
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
                .product(
                    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Inspector"])),
            ], path: "Tests/WebClient", swiftSettings: testing),
        .target(
            name: "RandomMessages",
            dependencies: [
                "Sweeps", "WaymarkCodec", "WaymarkModel", "WaymarkProtocol", "WaymarkRecording",
            ],
            path: "Tests/RandomMessages", swiftSettings: testing),

        // Tests.
        .testTarget(name: "HouseRulesTests", swiftSettings: tests),
        .testTarget(name: "ProcessIOTests", dependencies: ["ProcessIO"], swiftSettings: tests),
        .testTarget(name: "StateCodingTests", dependencies: ["StateCoding"], swiftSettings: tests),
        .testTarget(name: "WaymarkAccessTests", dependencies: ["WaymarkAccess"], swiftSettings: tests),
        .testTarget(name: "SystemdTests", dependencies: ["Systemd"], swiftSettings: tests),
        .testTarget(name: "WaymarkModelTests", dependencies: ["WaymarkModel"], swiftSettings: tests),
        .testTarget(
            name: "WaymarkProtocolTests", dependencies: ["WaymarkProtocol", "WaymarkModel"],
            swiftSettings: tests),
        .testTarget(
            name: "WaymarkCodecTests",
            dependencies: [
                "CProtobufC", "CWaymarkWire", "RandomMessages", "WaymarkClient", "WaymarkCodec",
                "WaymarkGateway", "WaymarkTransport", "WaymarkProtocol", "WaymarkModel",
            ],
            exclude: ["Fixtures"], swiftSettings: tests),
        .testTarget(
            name: "WaymarkGatewayTests",
            dependencies: [
                "StateCoding", "WaymarkAccess", "WaymarkGateway", "WaymarkClient", "WaymarkCodec",
                "WaymarkProtocol",
                "WaymarkModel", orderedCollections,
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkObservationTests",
            dependencies: [
                "StateCoding", "WaymarkAccess", "WaymarkCodec", "WaymarkGateway", "WaymarkModel",
                "WaymarkObservation", "WaymarkProtocol",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkRecordingTests",
            dependencies: [
                "ProcessIO", "RandomMessages", "WaymarkCodec", "WaymarkModel", "WaymarkProtocol",
                "WaymarkRecording",
            ], exclude: ["Fixtures"], swiftSettings: tests),
        .testTarget(
            name: "WaymarkInspectorTests",
            dependencies: [
                "RandomMessages", "WaymarkClient", "WaymarkCodec", "WaymarkHistory", "WaymarkInspector",
                "WaymarkModel", "WaymarkProtocol", "WaymarkRecording", "WaymarkRig", "WaymarkRoutes",
                "WaymarkScenario", "WaymarkTexts",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkInspectorServerTests",
            dependencies: [
                "FakeGateway", "ListeningSockets", "WaymarkClient", "WaymarkCodec", "WaymarkConfiguration",
                "WaymarkDaemon",
                "WaymarkGateway", "WaymarkInspector", "WaymarkInspectorServer", "WaymarkModel",
                "WaymarkProtocol", "WaymarkRecording",
                "WaymarkTransport", "WaymarkWeb", "WebClient", logging, nioCore, nioEmbedded, nioPosix,
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkConfigurationTests",
            dependencies: ["WaymarkAccess", "WaymarkConfiguration", "WaymarkGateway", "WaymarkProtocol"],
            swiftSettings: tests),
        .testTarget(
            name: "WaymarkConnectionsTests",
            dependencies: [
                "WaymarkConnections", "WaymarkGateway", "WaymarkCodec", "WaymarkProtocol", "WaymarkModel",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkTransportTests",
            dependencies: [
                "ListeningSockets", "StateCoding", "WaymarkAccess", "WaymarkConnections", "WaymarkTransport",
                "WaymarkGateway", "WaymarkCodec",
                "WaymarkProtocol", "WaymarkModel", nioCore, nioEmbedded, nioPosix, logging,
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkDaemonTests",
            dependencies: [
                "ListeningSockets", "WaymarkAccess", "WaymarkDaemon", "WaymarkConfiguration",
                "WaymarkTransport",
                "WaymarkGateway", "WaymarkCodec",
                "WaymarkProtocol", "WaymarkModel", "WaymarkTelemetry", "WaymarkClient", "ProcessIO",
                "Systemd",
                nioCore, nioPosix, logging,
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkWebTests",
            dependencies: [
                "ListeningSockets", "WaymarkTransport", "WaymarkWeb", "WebClient", nioCore, nioEmbedded,
                nioPosix, logging,
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
                .product(
                    name: "NIOHTTPTypes", package: "swift-nio-extras",
                    condition: .when(traits: ["Inspector"])),
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkExporterTests",
            dependencies: [
                "ListeningSockets", "WaymarkClient", "WaymarkCodec", "WaymarkConfiguration", "WaymarkDaemon",
                "WaymarkExporter",
                "WaymarkGateway", "WaymarkModel", "WaymarkProtocol", "WaymarkTelemetry", "WaymarkTransport",
                "WaymarkWeb", "WebClient",
                logging,
                nioCore, nioPosix,
                .product(
                    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkRoutesTests",
            dependencies: [
                "RecordedRoutes", "WaymarkRoutes", "WaymarkModel", "WaymarkProtocol", nioCore, nioPosix,
            ], exclude: ["Reported", "SpeedLimits"], swiftSettings: tests),
        .testTarget(
            name: "WaymarkClientTests",
            dependencies: [
                "FakeGateway", "ListeningSockets", "RandomMessages", "WaymarkClient", "WaymarkDaemon",
                "WaymarkConfiguration",
                "WaymarkTransport", "WaymarkGateway", "WaymarkProtocol", "WaymarkCodec", "WaymarkModel",
                nioCore, nioPosix, logging, "ArticleExamples", "NavigationClientExample",
                "VehicleEndpointExample",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkCommandLineTests",
            dependencies: [
                "RandomMessages", "RecordedRoutes", "RigMutants", "Sweeps", "WaymarkClient", "WaymarkCodec",
                "WaymarkCommandLine", "WaymarkGuidance", "WaymarkHistory", "WaymarkLint",
                "WaymarkRecording", "WaymarkScenario", "WaymarkTexts",
                "WaymarkRig", "WaymarkRoutes", "WaymarkProtocol", "WaymarkModel", arguments,
            ],
            swiftSettings: tests),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Sweeps",
                "FakeGateway", "waymark", "waymarkd", "ArticleExamples", "VehicleEndpointExample",
                "NavigationClientExample", "ProcessIO", "WaymarkClient",
                "WaymarkCodec", "WaymarkProtocol", "WaymarkModel",
            ], swiftSettings: tests),
        .testTarget(
            name: "LoadTests",
            dependencies: [
                "Load", "WaymarkDaemon", "WaymarkConfiguration", "WaymarkCodec", "WaymarkProtocol", logging,
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkSimulationTests",
            dependencies: [
                "Simulation", "Sweeps", "WaymarkCodec", "WaymarkGateway", "WaymarkModel", "WaymarkProtocol",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkHistoryTests",
            dependencies: [
                "WaymarkClient", "WaymarkCodec", "WaymarkHistory", "WaymarkModel", "WaymarkProtocol",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkTextsTests",
            dependencies: [
                "WaymarkClient", "WaymarkModel", "WaymarkProtocol", "WaymarkTexts",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkLintTests",
            dependencies: [
                "RecordedRoutes", "RigMutants", "WaymarkCodec", "WaymarkHistory", "WaymarkLint",
                "WaymarkModel",
                "WaymarkProtocol", "WaymarkRoutes",
            ], swiftSettings: tests),
        .testTarget(
            name: "GatewayInMemoryTests",
            dependencies: [
                "ExpectedState", "GatewayInMemory", "Sweeps", "WaymarkCodec", "WaymarkGateway",
                "WaymarkModel", "WaymarkProtocol",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkScenarioTests",
            dependencies: [
                "ExpectedState", "WaymarkClient", "WaymarkCodec", "WaymarkConfiguration", "WaymarkHistory",
                "WaymarkLint",
                "WaymarkModel", "WaymarkProtocol", "WaymarkScenario",
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkGuidanceTests",
            dependencies: [
                "RecordedRoutes",
                "WaymarkGuidance", "WaymarkModel", "WaymarkProtocol", "WaymarkRoutes",
            ], swiftSettings: tests),
        .testTarget(
            name: "ListeningSocketsTests",
            dependencies: [
                "ListeningSockets"
            ], swiftSettings: tests),
        .testTarget(
            name: "WaymarkRigTests",
            dependencies: [
                "ExpectedState", "FaultCells", "ProcessIO", "RecordedRoutes", "RigMutants", "Sweeps",
                "WaymarkClient", "WaymarkCodec", "WaymarkGuidance", "WaymarkFaults", "WaymarkHistory",
                "WaymarkLint",
                "WaymarkScenario",
                "WaymarkTexts",
                "WaymarkConfiguration", "WaymarkGateway", "WaymarkModel", "WaymarkProtocol",
                "WaymarkRecording", "WaymarkRig", "WaymarkRoutes",
            ], exclude: ["Report/Golden"], swiftSettings: tests),
        .testTarget(
            name: "WaymarkRigSocketsTests",
            dependencies: [
                "ListeningSockets", "Sweeps", "WaymarkFaults", "WaymarkHistory", "WaymarkScenario",
                "WaymarkTexts",
                "WaymarkTransport",
                "FaultCells", "ProcessIO", "waymark", "waymarkd", "WaymarkClient", "WaymarkCodec",
                "WaymarkConfiguration", "WaymarkModel", "WaymarkProtocol", "WaymarkRig",
                "WaymarkRigSockets", "WaymarkRoutes",
                nioCore, nioPosix, logging,
            ], swiftSettings: tests),
    ]
)

// Only some tests, and what they need: WAYMARK_TESTS=SystemdTests,WaymarkCodecTests.
if let names = Context.environment["WAYMARK_TESTS"] {
    var kept: Set<String> = []
    var found = names.split(separator: ",").map(String.init)
    while let name = found.popLast() {
        guard kept.insert(name).inserted else { continue }
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("WAYMARK_TESTS: there is no target \(name)")
        }
        for case .byNameItem(let dependency, _) in target.dependencies { found.append(dependency) }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll()
}
