internal import Foundation
internal import Systemd
package import WaymarkTransport

/// The listening sockets that the service manager opened for this process, kept as long as this is.
///
/// Listeners accept from copies, so that one can be closed and opened again.
package final class InheritedListeners: Sendable {
    /// One socket. A name may stand for several.
    package struct Socket: Sendable, Hashable {
        /// `FileDescriptorName=` of its unit.
        package let name: String
        package let address: ListenAddress
        package let descriptor: CInt

        package init(name: String, address: ListenAddress, descriptor: CInt) {
            self.name = name
            self.address = address
            self.descriptor = descriptor
        }
    }

    /// In the order of the service manager.
    package let sockets: [Socket]

    /// Nothing was handed over.
    package static let none = InheritedListeners([])

    /// Owns the descriptors of listening sockets from now on.
    package init(_ sockets: [Socket]) { self.sockets = sockets }

    deinit { for socket in self.sockets { close(socket.descriptor) } }

    /// Takes over what the service manager handed over; afterwards there is nothing. Called once, before there are other
    /// threads.
    package static func take() throws(DaemonError) -> InheritedListeners {
        var handed: InheritedSockets
        do throws(SystemdError) { handed = try InheritedSockets() } catch { throw .serviceManager(error) }
        var sockets: [Socket] = []
        do throws(DaemonError) {
            while let socket = try Self.next(of: &handed) { sockets.append(socket) }
        } catch {
            for socket in sockets { close(socket.descriptor) }
            throw error
        }
        return InheritedListeners(sockets)
    }

    private static func next(of handed: inout InheritedSockets) throws(DaemonError) -> Socket? {
        let next: InheritedSocket?
        do throws(InheritedSocketError) { next = try handed.next() } catch { throw .inherited(error) }
        guard let next else { return nil }
        let name = next.name
        let descriptor = next.release()
        guard let address = ListenAddress(boundSocket: descriptor) else {
            close(descriptor)
            throw .abstract(name: name, descriptor: descriptor)
        }
        return Socket(name: name, address: address, descriptor: descriptor)
    }
}
