/// A choice offered in an alert.
public struct AlertAction: Sendable, Hashable {
    /// 1 is the primary action, 2 the secondary.
    public var id: UInt32
    /// Longest first; 1 ... 8 variants of at most 512 bytes.
    public var titleVariants: [String]

    /// Creates an action.
    public init(id: UInt32, titleVariants: [String]) {
        self.id = id
        self.titleVariants = titleVariants
    }
}

/// Something the driver should know now.
///
/// - Source: `CPNavigationAlert`.
public struct NavigationAlert: Sendable, Hashable {
    /// Not zero. The id of the alert that is shown: the same alert in other words. Otherwise one that the session has not had.
    public var id: UInt32
    /// Longest first; 1 ... 8 variants of at most 512 bytes.
    public var titleVariants: [String]
    /// Longest first; at most 8 variants of at most 512 bytes.
    public var subtitleVariants: [String]
    /// At most 2.
    public var actions: [AlertAction]
    /// How long it is shown, in whole milliseconds, at most 10 minutes, raised to at least 5 s; nil until dismissed.
    public var duration: Duration?

    /// Creates an alert.
    public init(
        id: UInt32, titleVariants: [String], subtitleVariants: [String] = [], actions: [AlertAction] = [],
        duration: Duration? = nil
    ) {
        self.id = id
        self.titleVariants = titleVariants
        self.subtitleVariants = subtitleVariants
        self.actions = actions
        self.duration = duration
    }
}
