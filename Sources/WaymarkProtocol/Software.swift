/// The name and version of this build: for `--version`, the Debian package, and the `software` of a Welcome.
package enum Software {
    /// scripts/release/version.sh reads it from this line.
    package static let version = "0.1.0"
    package static let name = "waymark \(version)"
}
