#if Inspector
    internal import ListeningSockets
    package import NIOCore
    internal import NIOPosix
    package import WaymarkWeb

    /// A client that sends a server what a test writes, byte by byte.
    package struct WebClient: Sendable {
        private let address: SocketAddress

        package init(of server: LoopbackServer) throws {
            self.address =
                switch server.address.address {
                case .tcp(let host, let port): try SocketAddress(ipAddress: host, port: port)
                case .unix(let path): try SocketAddress(unixDomainSocketPath: path)
                }
        }

        /// A client of the server at this port of 127.0.0.1.
        package init(port: Int) throws {
            self.address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        }

        /// Opens connections that send nothing, one after the other.
        package func silentConnections(_ count: Int) async throws -> [any Channel] {
            var channels: [any Channel] = []
            for _ in 0..<count {
                let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                channels.append(try await bootstrap.connect(to: self.address).get())
            }
            return channels
        }

        /// Sends bytes, ends its side, and reads until the server closes. `meanwhile` runs when the first bytes have come.
        package func exchange(
            _ text: String, meanwhile: @Sendable () async throws -> Void = {}
        ) async throws -> String {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .connect(to: self.address) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true))
                    }
                }
            return try await channel.executeThenClose { inbound, outbound in
                // A server that refuses may close before it has read everything.
                do { try await outbound.write(ByteBuffer(string: text)) } catch {}
                outbound.finish()
                var received = ByteBuffer()
                var failure: (any Error)?
                do {
                    for try await bytes in inbound {
                        if received.readableBytes == 0 {
                            do { try await meanwhile() } catch {
                                failure = error
                                break
                            }
                        }
                        received.writeImmutableBuffer(bytes)
                    }
                } catch {}
                if let failure { throw failure }
                return String(buffer: received)
            }
        }
    }
#endif
