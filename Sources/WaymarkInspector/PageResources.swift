package import Foundation

/// The page's files, which ship with the program.
package enum PageResources {
    /// The folder with `index.html`.
    package static var folder: URL { Bundle.module.bundleURL.appending(path: "Resources/page") }
}
