internal import Foundation
internal import ProcessIO
internal import WaymarkTexts

extension ClusterProfile {
    /// The profile that ships under `name`, or in the file of that path.
    static func load(_ name: String) throws -> ClusterProfile {
        if let data = Resources.profile(name) { return try self.parse(data, name) }
        let content: FileContent
        do throws(FileError) { content = try FileContent(path: name, allowsPipe: true) } catch {
            let names = Resources.profileNames.joined(separator: ", ")
            throw ProfileError(
                description: "\(name) is not one of the profiles \(names), nor a file: \(error)")
        }
        return try self.parse(Data(content.bytes), name)
    }
}
