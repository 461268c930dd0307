internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension AlertAction {
    typealias Wire = Waymark__V1__AlertAction

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__alert_action__init) { wire in
            unsafe wire.pointee.id = self.id
            unsafe (wire.pointee.n_title_variants, wire.pointee.title_variants) =
                unsafe arena.texts(self.titleVariants)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: unsafe wire.pointee.id,
            titleVariants: unsafe texts(wire.pointee.n_title_variants, wire.pointee.title_variants))
    }
}

extension NavigationAlert {
    typealias Wire = Waymark__V1__NavigationAlert

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__navigation_alert__init) { wire in
            unsafe wire.pointee.id = self.id
            unsafe (wire.pointee.n_title_variants, wire.pointee.title_variants) =
                unsafe arena.texts(self.titleVariants)
            unsafe (wire.pointee.n_subtitle_variants, wire.pointee.subtitle_variants) =
                unsafe arena.texts(self.subtitleVariants)
            unsafe (wire.pointee.n_actions, wire.pointee.actions) = unsafe arena.list(self.actions) {
                unsafe $0.wire(in: arena)
            }
            unsafe wire.pointee.duration_milliseconds =
                self.duration.map { Self.raised(UInt32(clamping: $0.milliseconds)) } ?? 0
            unsafe wire.pointee.notification = .init(rawValue: self.notification?.rawValue ?? 0)
            unsafe wire.pointee.priority = .init(rawValue: self.priority?.rawValue ?? 0)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: unsafe wire.pointee.id,
            titleVariants: unsafe texts(wire.pointee.n_title_variants, wire.pointee.title_variants),
            subtitleVariants: unsafe texts(wire.pointee.n_subtitle_variants, wire.pointee.subtitle_variants),
            actions: unsafe list(wire.pointee.n_actions, wire.pointee.actions) { unsafe AlertAction($0) })
        self.duration = unsafe wire.pointee.duration_milliseconds.given.map {
            .milliseconds(Self.raised($0))
        }
        self.notification = .given(unsafe wire.pointee.notification)
        self.priority = .given(unsafe wire.pointee.priority)
    }

    /// Raises a duration to the shortest that lets a driver read an alert.
    private static func raised(_ milliseconds: UInt32) -> UInt32 {
        max(milliseconds, ProtocolConstants.alertDurationMilliseconds.lowerBound)
    }
}

extension NavigationAlert {
    private typealias Field = FieldNumber.NavigationAlert

    /// The id of an alert. Checks that fields do not contradict each other.
    static func id(checking wire: WireMessage) throws(Rejection) -> UInt32 {
        let actions = try wire.elements(Field.actions, "actions") { $0.number(FieldNumber.AlertAction.id) }
        try checkUnique(actions, "actions")
        return wire.number(Field.id)
    }
}
