import Foundation
import NIOCore
import NIOPosix
import Testing
import WaymarkClient

/// What a user reads when there is no gateway.
@Suite(.timeLimit(.minutes(2))) struct ConnectFailureTests {
    /// A server that says something to every connection, and closes it.
    private static func serve(_ greeting: [UInt8], at path: String) async throws -> any Channel {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.execute {
                    if !greeting.isEmpty { channel.writeAndFlush(ByteBuffer(bytes: greeting), promise: nil) }
                    channel.close(mode: greeting.isEmpty ? .all : .output, promise: nil)
                }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(unixDomainSocketPath: path).get()
    }

    private static func reason(at address: ServiceAddress) async -> String {
        do throws(ClientError) {
            let endpoint = try await VehicleEndpoint.connect(
                to: address, .init(vehicle: "car", endpoint: "cluster"))
            await endpoint.close()
            return "connected"
        } catch {
            return "\(error)"
        }
    }

    private static func newFolder() throws -> String {
        let path = "/tmp/wc-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH_9.2p1\r\n", "what listens there is not waymarkd, but an SSH server"),
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "what listens there is not waymarkd, but a web server"),
        ("hello, who is there?\r\n", "what listens there is not waymarkd, but something else"),
    ])
    func `another program that listens there is recognised`(_ greeting: String, _ reason: String) async throws
    {
        let folder = try Self.newFolder()
        let server = try await Self.serve(Array(greeting.utf8), at: "\(folder)/s")
        let address = ServiceAddress.unix(path: "\(folder)/s")
        #expect(await Self.reason(at: address) == "cannot connect to \(address): \(reason)")
        try await server.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a listener that closes at once may not be waymarkd`() async throws {
        let folder = try Self.newFolder()
        let server = try await Self.serve([], at: "\(folder)/s")
        let reason = await Self.reason(at: .unix(path: "\(folder)/s"))
        #expect(
            reason.contains("may not be waymarkd") || reason.contains("broken pipe")
                || reason.contains("reset"), "\(reason)")
        try await server.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a missing socket and one without a listener are told apart`() async throws {
        let folder = try Self.newFolder()
        let path = "\(folder)/s"
        #expect(
            await Self.reason(at: .unix(path: path))
                == "cannot connect to unix:\(path): there is no such socket; is waymarkd running?")
        let server = try await Self.serve([], at: path)
        try FileManager.default.moveItem(atPath: path, toPath: "\(path)2")
        try await server.close()
        #expect(
            await Self.reason(at: .unix(path: "\(path)2"))
                == "cannot connect to unix:\(path)2: nothing listens there; is waymarkd running?")
        #expect(
            await Self.reason(at: .tcp(host: "nowhere.invalid", port: 1)).hasSuffix(
                "the name nowhere.invalid is not known"))
        try FileManager.default.removeItem(atPath: folder)
    }
}
