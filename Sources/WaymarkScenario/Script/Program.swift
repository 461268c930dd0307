package import WaymarkHistory
internal import WaymarkProtocol

extension Scenario {
    /// A program that takes part, as this peer.
    package struct Program: Sendable, Hashable {
        package let peer: PeerID
        package let command: Command
        /// What its vehicle or client says by `connects`.
        package let connects: Bool

        init(_ peer: PeerID, _ command: Command, connects: Bool) {
            (self.peer, self.command, self.connects) = (peer, command, connects)
        }

        /// What is replaced in its words: in braces, e.g. `{vehicle}`.
        private func values(host: String, port: Int) -> [(name: String, value: String)] {
            let ofPeer =
                switch self.peer {
                case .endpoint(let vehicle, let endpoint):
                    [("vehicle", vehicle.rawValue), ("endpoint", endpoint.rawValue)]
                case .client(let client): [("client", client.rawValue)]
                }
            return ofPeer + [("address", "tcp:\(host):\(port)"), ("host", host), ("port", "\(port)")]
        }

        /// Its words, for a gateway at this address.
        package func words(host: String, port: Int) -> [String] {
            self.command.words.map { word in
                self.values(host: host, port: port).reduce(word) { text, pair in
                    text.split(separator: "{\(pair.name)}", omittingEmptySubsequences: false)
                        .joined(separator: pair.value)
                }
            }
        }

        /// A sentence for each word in braces that means nothing to this peer. Braces with anything but letters are the program's own.
        package var unknownPlaceholders: [String] {
            let known = self.values(host: "", port: 0).map(\.name)
            let names = self.command.words.flatMap { word in
                word.split(separator: "{").dropFirst(word.hasPrefix("{") ? 0 : 1).compactMap { part in
                    part.firstIndex(of: "}").map { String(part[..<$0]) }
                }
            }
            return names.filter { name in
                !name.isEmpty && name.allSatisfy { $0.isASCII && $0.isLowercase } && !known.contains(name)
            }.map { name in
                let list = known.map { "{\($0)}" }.joined(separator: ", ")
                return "{\(name)} is unknown here; \(self.peer) has \(list)"
            }
        }
    }

    /// All programs that take part.
    package var programs: [Program] {
        let ofVehicles = self.vehicles.flatMap { vehicle in
            vehicle.endpoints.compactMap { endpoint in
                endpoint.command.map {
                    Program(
                        .endpoint(vehicle.id, endpoint.name), $0, connects: vehicle.connects)
                }
            }
        }
        let ofClients = self.clients.compactMap { client in
            client.command.map { Program(client.peer, $0, connects: client.connects) }
        }
        return ofVehicles + ofClients
    }
}
