/// The keys of log metadata, in one place, so that a log can be searched by them.
package enum LogKey {
    package static let address = "address"
    package static let client = "client"
    package static let code = "code"
    package static let connection = "connection"
    package static let endpoint = "endpoint"
    package static let error = "error"
    package static let path = "path"
    package static let peer = "peer"
    package static let reason = "reason"
    package static let role = "role"
    package static let session = "session"
    package static let vehicle = "vehicle"
}
