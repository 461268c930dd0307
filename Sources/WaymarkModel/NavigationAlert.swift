/// A choice offered in an alert.
public struct AlertAction: Sendable, Hashable {
    /// The id: 1 for the primary action, 2 for the secondary.
    public var id: UInt32
    /// The title, longest first; 1 ... 8 variants of at most 512 bytes.
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
    /// The id, which is not zero: that of the alert that is shown if this is the same alert in other words, otherwise one that the
    /// session has not had.
    public var id: UInt32
    /// The title, longest first; 1 ... 8 variants of at most 512 bytes.
    public var titleVariants: [String]
    /// The subtitle, longest first; at most 8 variants of at most 512 bytes.
    public var subtitleVariants: [String]
    /// The actions that the alert offers; at most 2.
    public var actions: [AlertAction]
    /// The time for which the alert is shown, in whole milliseconds, at most 10 minutes, raised to at least 5 s; nil if it is shown
    /// until it is dismissed.
    public var duration: Duration?
    /// Whether the alert may interrupt a display that shows something else; nil if the receiver decides.
    public var notification: NotificationStyle?
    /// The importance of the alert among others; nil if the receiver decides.
    public var priority: AlertPriority?

    /// Creates an alert.
    public init(
        id: UInt32, titleVariants: [String], subtitleVariants: [String] = [], actions: [AlertAction] = [],
        duration: Duration? = nil, notification: NotificationStyle? = nil, priority: AlertPriority? = nil
    ) {
        self.id = id
        self.titleVariants = titleVariants
        self.subtitleVariants = subtitleVariants
        self.actions = actions
        self.duration = duration
        self.notification = notification
        self.priority = priority
    }
}
