/// What this build calls itself.
package enum Software {
    package static let version = "0.1.0"
    package static let name = "waymark \(version)"
}
