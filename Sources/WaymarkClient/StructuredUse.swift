/// Connects a navigation client, runs `body` with it, and closes it however `body` ends: when it returns, throws, or its task
/// is cancelled.
///
/// - Throws: The error that ``NavigationClient/connect(to:_:)`` or `body` throws.
public func withNavigationClient<Result>(
    to address: ServiceAddress = .defaultNavigation, _ configuration: NavigationClient.Configuration,
    _ body: (NavigationClient) async throws -> Result
) async throws -> Result {
    let client = try await NavigationClient.connect(to: address, configuration)
    do {
        let result = try await body(client)
        await client.close()
        return result
    } catch {
        await client.close()
        throw error
    }
}

/// Connects a vehicle endpoint, runs `body` with it, and closes it however `body` ends: when it returns, throws, or its task
/// is cancelled.
///
/// - Throws: The error that ``VehicleEndpoint/connect(to:_:)`` or `body` throws.
public func withVehicleEndpoint<Result>(
    to address: ServiceAddress = .defaultVehicle, _ configuration: VehicleEndpoint.Configuration,
    _ body: (VehicleEndpoint) async throws -> Result
) async throws -> Result {
    let endpoint = try await VehicleEndpoint.connect(to: address, configuration)
    do {
        let result = try await body(endpoint)
        await endpoint.close()
        return result
    } catch {
        await endpoint.close()
        throw error
    }
}

/// Connects an observer, runs `body` with it, and closes it however `body` ends: when it returns, throws, or its task is
/// cancelled.
///
/// - Throws: The error that ``Observer/connect(to:_:)`` or `body` throws.
public func withObserver<Result>(
    to address: ServiceAddress = .defaultObserver,
    _ configuration: Observer.Configuration = Observer.Configuration(),
    _ body: (Observer) async throws -> Result
) async throws -> Result {
    let observer = try await Observer.connect(to: address, configuration)
    do {
        let result = try await body(observer)
        await observer.close()
        return result
    } catch {
        await observer.close()
        throw error
    }
}
