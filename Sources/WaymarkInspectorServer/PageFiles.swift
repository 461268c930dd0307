package import Foundation

/// The files of the page, all in memory: a request can name no other file.
package struct PageFiles: Sendable {
    package struct File: Sendable {
        package let mediaType: String
        package let bytes: Data
        /// The bytes as gzip has them; nil if that is not shorter.
        package let compressed: Data?

        init(mediaType: String, bytes: Data) {
            (self.mediaType, self.bytes) = (mediaType, bytes)
            self.compressed = Gzip.compress(bytes).flatMap { $0.count < bytes.count ? $0 : nil }
        }
    }

    private static let mediaTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "json": "application/json",
    ]
    private static let bytesMax = 4_194_304

    /// By their paths, e.g. `/page/map/mercator.js`.
    private var files: [String: File] = [:]

    package init() {}

    /// Reads and compresses the files of a folder. Files of other types, and what is too much, are left out.
    package init(folder: URL) {
        let root = folder.standardizedFileURL.path
        var rest = Self.bytesMax
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let url = all?.nextObject() as? URL {
            let path = url.standardizedFileURL.path
            guard let mediaType = Self.mediaTypes[url.pathExtension], path.hasPrefix(root + "/") else {
                continue
            }
            do {
                let bytes = try Data(contentsOf: url)
                guard bytes.count <= rest else { continue }
                rest -= bytes.count
                self.files["/page/" + path.dropFirst(root.count + 1)] = File(
                    mediaType: mediaType, bytes: bytes)
            } catch { continue }
        }
    }

    /// nil for none.
    package subscript(path: String) -> File? { self.files[path == "/" ? "/page/index.html" : path] }
}
