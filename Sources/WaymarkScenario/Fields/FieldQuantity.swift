internal import WaymarkModel
internal import WaymarkProtocol

/// A number of the model, with or without a unit of its own.
protocol FieldQuantity: Sendable, Equatable {
    /// The number in the unit of a key. Only durations have more than one.
    func number(in unit: FieldUnit) -> Double
}

extension FieldQuantity where Self: BinaryInteger {
    // Clamped as in the lines of Docs/cluster-json.md.
    func number(in unit: FieldUnit) -> Double { Double(Int64(clamping: self)) }
}

extension FieldQuantity where Self: RawRepresentable, RawValue == UInt32 {
    func number(in unit: FieldUnit) -> Double { Double(self.rawValue) }
}

extension UInt8: FieldQuantity {}
extension UInt16: FieldQuantity {}
extension UInt32: FieldQuantity {}
extension Int16: FieldQuantity {}
extension ManeuverID: FieldQuantity {}
extension LaneGuidanceID: FieldQuantity {}

extension Distance: FieldQuantity {
    func number(in unit: FieldUnit) -> Double { Double(self.meters) }
}

extension Angle: FieldQuantity {
    func number(in unit: FieldUnit) -> Double { Double(self.degrees) }
}

extension Duration: FieldQuantity {
    func number(in unit: FieldUnit) -> Double {
        Double(unit == .milliseconds ? self.milliseconds : self.components.seconds)
    }
}

extension FieldKey {
    static func quantity<Quantity: FieldQuantity>(
        _ name: String, _ unit: FieldUnit = .none, _ read: @escaping @Sendable (Root) -> Quantity?
    ) -> FieldKey {
        FieldKey(name, .number(unit)) { read($0).map { .number($0.number(in: unit)) } }
    }

    /// A number for each element; equality is that of the elements.
    static func quantities<Quantity: FieldQuantity>(
        _ name: String, _ unit: FieldUnit = .none, _ read: @escaping @Sendable (Root) -> [Quantity]?
    ) -> FieldKey {
        FieldKey(name, .list(.number(unit))) {
            read($0).map { .list(FieldElements(elements: $0) { .number($0.number(in: unit)) }) }
        }
    }

    /// The keys of a route, of an object that contains one.
    static func route(of read: @escaping @Sendable (Root) -> RouteInformation?) -> [FieldKey<Root>] {
        RouteInformation.fields.map { $0.of(read) }
    }
}
