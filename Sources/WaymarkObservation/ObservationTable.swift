internal import WaymarkProtocol

/// Observations by their places, and what each of them wants, in short.
///
/// Why in short: that is asked for each event and all frames, and reading it from an observation would copy all of that.
struct ObservationTable: RandomAccessCollection, MutableCollection {
    struct Wish {
        var events = false
        var frames = false
        /// Neither its filter nor the access rules hide anything.
        var isUnlimited = false
        var visibility = Visibility.state
    }

    private var elements: [Observation?] = []
    private var wishes: [Wish] = []

    var startIndex: Int { 0 }
    var endIndex: Int { self.elements.count }

    subscript(place: Int) -> Observation? {
        get { self.elements[place] }
        _modify {
            yield &self.elements[place]
            self.wishes[place] = self.elements[place].map { Wish($0) } ?? Wish()
        }
    }

    /// What the observation at a place wants; nothing if there is none.
    func wish(at place: Int) -> Wish { self.wishes[place] }

    mutating func append(_ observation: Observation?) {
        self.elements.append(observation)
        self.wishes.append(observation.map { Wish($0) } ?? Wish())
    }
}

extension ObservationTable.Wish {
    fileprivate init(_ observation: Observation) {
        guard let observe = observation.observe else { return }
        (self.events, self.frames) = (observe.wantsEvents, observe.wantsFrames)
        self.isUnlimited =
            !observation.isLimited && observe.vehicles.isEmpty && observe.clients.isEmpty
            && observe.sessions.isEmpty
        self.visibility = observation.hello.visibility
    }
}
