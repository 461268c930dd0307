#if ServiceLifecycle
    public import ServiceLifecycle

    extension NavigationClient: Service {
        /// Runs until graceful shutdown or cancellation, and closes the client then.
        ///
        /// - Throws: The ``ClientError`` that ended the connection for good.
        public func run() async throws {
            try await serve(self.connectionStates) { await self.close() }
        }
    }

    extension VehicleEndpoint: Service {
        /// Runs until graceful shutdown or cancellation, and closes the endpoint then.
        ///
        /// - Throws: The ``ClientError`` that ended the connection for good.
        public func run() async throws {
            try await serve(self.connectionStates) { await self.close() }
        }
    }

    extension Observer: Service {
        /// Runs until graceful shutdown or cancellation, and closes the observer then.
        ///
        /// - Throws: The ``ClientError`` that ended the connection for good.
        public func run() async throws {
            try await serve(self.connectionStates) { await self.close() }
        }
    }

    private func serve(
        _ states: Feed<ConnectionState>, close: @Sendable () async -> Void
    ) async throws {
        var failure: ClientError?
        for try await state in states.cancelOnGracefulShutdown() {
            if case .closed(let error) = state, error != .closed { failure = error }
        }
        await close()
        if let failure { throw failure }
    }
#endif
