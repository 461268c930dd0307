internal import WaymarkModel

/// A trip without stops.
let exampleTrip = Trip(
    id: "castle",
    origin: Waypoint(center: Coordinate(latitude: 47.141, longitude: 9.521), nameVariants: ["Vaduz"]),
    destination: Waypoint(
        center: Coordinate(latitude: 47.068, longitude: 9.503), nameVariants: ["Gutenberg Castle", "Castle"]))
