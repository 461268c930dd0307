import Foundation

/// The folders of the repository that tests read.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// The scenarios that ship.
    static let scenarios = root.appending(path: "Sources/WaymarkCommandLine/Resources/scenarios")
}
