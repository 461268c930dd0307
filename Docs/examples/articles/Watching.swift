public import WaymarkClient
internal import WaymarkModel

/// Prints how the requests of one vehicle end, until the gateway closes the connection for good.
public func printOutcomes(of vehicle: String, at address: ServiceAddress) async throws {
    var configuration = Observer.Configuration(id: "outcomes")
    configuration.vehicles = [vehicle]
    configuration.kinds = [.stopRequested, .driveRequested, .requestEnded]
    try await withObserver(to: address, configuration) { observer in
        for await update in await observer.updates {
            switch update.content {
            case .event(let event): print(update.time, event.kind, event.requestID, event.codeName)
            case .frame: break  // Not asked for.
            case .synchronized(let state): print("open:", state.requests.map(\.id))
            case .dropped(let count): print(count, "entries were dropped by the gateway")
            case .missed(let count): print(count, "updates were dropped here")
            }
        }
    }
}

/// Prints what crosses between a gateway and its peers.
public func printFrames(at address: ServiceAddress) async throws {
    var configuration = Observer.Configuration(id: "frames")
    configuration.includesFrames = true
    try await withObserver(to: address, configuration) { observer in
        for await update in await observer.updates {
            guard case .frame(let frame) = update.content else { continue }
            switch frame.way {
            case .from(let peer): print(peer, "sent", frame.name)
            case .to(let peers): print(peers.joined(separator: ", "), "got", frame.name)
            }
            if case .maneuverEstimates(let maneuver, let estimates) = frame.content {
                print("maneuver", maneuver.rawValue, "in", estimates.distanceRemaining.meters, "m")
            }
        }
    }
}

/// Prints who is connected, and how much is published.
public func printStatus(of observer: Observer) async throws {
    let state = await observer.state
    for vehicle in state.vehicles {
        for endpoint in vehicle.endpoints {
            print(vehicle.id, endpoint.name, endpoint.presence, endpoint.isReady ? "ready" : "not ready")
        }
    }
    let first = try await observer.counters()
    try await Task.sleep(for: .seconds(1))
    let second = try await observer.counters(withMeasures: true)
    print(second[.publications] - first[.publications], "publications in a second")
    for connection in second.connections where connection.waitingBytes > 0 {
        print(connection.peer, "has not read", connection.waitingBytes, "bytes")
    }
}
