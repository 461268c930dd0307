import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import WaymarkClient

@Suite struct DefaultAddressTests {
    @Test func `each role has a socket of its own in the same folder`() {
        let addresses: [ServiceAddress] = [.defaultNavigation, .defaultVehicle, .defaultObserver]
        let names = addresses.map { "\($0)".split(separator: "/").last }
        #expect(names == ["navigation.sock", "vehicle.sock", "observe.sock"])
    }

    @Test func `the user's own daemon comes first, then the system's service`() async throws {
        let folder = "/tmp/wa-\(UInt32.random(in: 0 ... .max))"
        let (own, system) = ("\(folder)/own", "\(folder)/system")
        for path in [own, system] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        func found() -> ServiceAddress { .find("v", in: [own, system]) }
        func listen(_ path: String) async throws -> any Channel {
            try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(
                unixDomainSocketPath: path
            ).get()
        }
        #expect(found() == .unix(path: "\(own)/v"))
        let service = try await listen("\(system)/v")
        #expect(found() == .unix(path: "\(system)/v"))
        let daemon = try await listen("\(own)/v")
        #expect(found() == .unix(path: "\(own)/v"))
        try await service.close()
        try await daemon.close()
        try FileManager.default.removeItem(atPath: folder)
    }
}
