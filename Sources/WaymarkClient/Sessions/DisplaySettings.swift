public import WaymarkModel
internal import WaymarkProtocol

/// The user interfaces that a vehicle limits while it drives.
///
/// - Source: `CPLimitableUserInterface`.
public struct LimitableUserInterfaces: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits on the wire.
    public let rawValue: UInt32

    /// Reads the bits on the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The keyboard.
    public static let keyboard = LimitableUserInterfaces(rawValue: 1)
    /// Long lists.
    public static let lists = LimitableUserInterfaces(rawValue: 2)

    /// The limited user interfaces in words, for humans.
    public var description: String {
        let names = [(Self.keyboard, "keyboard"), (.lists, "lists")].filter { self.contains($0.0) }.map(\.1)
        return names.isEmpty ? "nothing" : names.joined(separator: " and ")
    }
}

/// The settings of an endpoint's display. nil: unknown.
public struct DisplaySettings: Sendable, Hashable, CustomStringConvertible {
    /// Whether a compass is shown.
    public var compass: ClusterSetting?
    /// Whether the speed limit is shown.
    public var speedLimit: ClusterSetting?
    /// Whether content is light or dark.
    public var contentStyle: ContentStyle?
    /// The user interfaces that may not be used now.
    public var limitedUserInterfaces: LimitableUserInterfaces?
    /// Whether the display is ready to show guidance.
    public var isReadyToShow: Bool?

    /// Creates settings; what is nil is left as it is.
    public init(
        compass: ClusterSetting? = nil, speedLimit: ClusterSetting? = nil, contentStyle: ContentStyle? = nil,
        limitedUserInterfaces: LimitableUserInterfaces? = nil, isReadyToShow: Bool? = nil
    ) {
        self.compass = compass
        self.speedLimit = speedLimit
        self.contentStyle = contentStyle
        self.limitedUserInterfaces = limitedUserInterfaces
        self.isReadyToShow = isReadyToShow
    }

    /// The known settings in words, for humans.
    public var description: String {
        var words: [String] = []
        if let compass { words.append("compass \(compass)") }
        if let speedLimit { words.append("speed limit \(speedLimit)") }
        if let contentStyle { words.append("content style \(contentStyle)") }
        if let limitedUserInterfaces { words.append("limited: \(limitedUserInterfaces)") }
        if let isReadyToShow { words.append(isReadyToShow ? "ready" : "not ready") }
        return words.joined(separator: ", ")
    }
}

extension DisplaySettings {
    init(_ settings: VehicleSettings) {
        self.init(
            compass: settings.compass, speedLimit: settings.speedLimit, contentStyle: settings.contentStyle,
            limitedUserInterfaces: settings.limitedUserInterfaces.map(
                LimitableUserInterfaces.init(rawValue:)),
            isReadyToShow: settings.isReadyToShow)
    }

    /// Sets what is unknown here to the values in `older`.
    mutating func fillGaps(from older: DisplaySettings) {
        self.compass = self.compass ?? older.compass
        self.speedLimit = self.speedLimit ?? older.speedLimit
        self.contentStyle = self.contentStyle ?? older.contentStyle
        self.limitedUserInterfaces = self.limitedUserInterfaces ?? older.limitedUserInterfaces
        self.isReadyToShow = self.isReadyToShow ?? older.isReadyToShow
    }

    /// As they go over the wire.
    var message: VehicleSettings {
        var settings = VehicleSettings()
        settings.compass = self.compass
        settings.speedLimit = self.speedLimit
        settings.contentStyle = self.contentStyle
        settings.limitedUserInterfaces = self.limitedUserInterfaces?.rawValue
        settings.isReadyToShow = self.isReadyToShow
        return settings
    }
}
