internal import Foundation
package import ListeningSockets
internal import Systemd

/// The listening sockets that the service manager passed to this process. They stay open as long as this object exists;
/// listeners accept from copies, so that a listener can be closed and opened again.
package final class InheritedListeners: Sendable {
    /// One socket. Several may have the same name.
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

    /// In the service manager's order.
    package let sockets: [Socket]

    /// For a process that inherited no sockets.
    package static let none = InheritedListeners([])

    /// Takes ownership of the descriptors.
    package init(_ sockets: [Socket]) { self.sockets = sockets }

    deinit { for socket in self.sockets { close(socket.descriptor) } }

    /// Receives the sockets that the service manager passed, and the previous process's handover from its descriptor store.
    /// Call it once, before the process has other threads.
    package static func receive() throws(DaemonError) -> (InheritedListeners, Handover?) {
        var received: InheritedSockets
        do throws(SystemdError) { received = try InheritedSockets() } catch { throw .serviceManager(error) }
        let handover = Handover.remove(from: &received)
        var sockets: [Socket] = []
        do throws(DaemonError) {
            while let socket = try Self.next(of: &received) { sockets.append(socket) }
        } catch {
            for socket in sockets { close(socket.descriptor) }
            throw error
        }
        return (InheritedListeners(sockets), handover)
    }

    private static func next(of received: inout InheritedSockets) throws(DaemonError) -> Socket? {
        let next: InheritedSocket?
        do throws(InheritedSocketError) { next = try received.next() } catch { throw .inherited(error) }
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
