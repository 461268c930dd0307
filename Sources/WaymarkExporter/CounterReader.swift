package import WaymarkClient

/// Reads a gateway's counters, for all that ask. There is at most one question under way, and what was read is used again for a
/// while: what asks here decides nothing of the gateway's load.
package actor CounterReader {
    package struct Times: Sendable {
        /// How long values are used again.
        package var reuse = Duration.milliseconds(500)
        /// After this time without an answer the gateway counts as gone.
        package var answer = Duration.seconds(3)
        package init() {}
    }

    private let address: ServiceAddress
    private let configuration: Observer.Configuration
    private let times: Times
    /// Connected, or reconnecting.
    private var observer: Observer?
    /// The gateway refused the observer, and said or implied when to come again.
    private var refusal: (error: ClientError, until: ContinuousClock.Instant)?
    private var reading: Task<GatewayReading?, Never>?
    /// What the last question led to; no reading if it was not answered.
    private var last: (reading: GatewayReading?, at: ContinuousClock.Instant)?
    private var isClosed = false
    /// Why the last question got no answer; nil if it got one.
    private var trouble: String?
    private var hasAnswered = false
    private let tell: @Sendable (String?) -> Void

    /// A reader that has not connected yet. `tell` is called whenever the gateway begins or ceases to answer, with the reason for
    /// the latter.
    package init(
        of address: ServiceAddress, _ configuration: Observer.Configuration, _ times: Times = Times(),
        tell: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.address = address
        self.times = times
        self.tell = tell
        var configuration = configuration
        (configuration.includesState, configuration.includesEvents) = (false, false)
        self.configuration = configuration
    }

    /// The counters, read now or a moment ago; nil if the gateway does not answer.
    package func read() async -> GatewayReading? {
        let now = ContinuousClock.now
        if let last = self.last, now - last.at < self.times.reuse {
            var reading = last.reading
            reading?.age = now - last.at
            return reading
        }
        if let reading = self.reading { return await reading.value }
        let task = Task { await self.ask() }
        self.reading = task
        let reading = await task.value
        self.reading = nil
        self.last = (reading, .now)
        return reading
    }

    /// Ends the connection.
    package func close() async {
        self.isClosed = true
        self.reading?.cancel()
        await self.drop()
    }

    private func drop() async {
        let observer = self.observer
        self.observer = nil
        await observer?.close()
    }

    private func ask() async -> GatewayReading? {
        let asking = Task { try await self.answer() }
        let timer = Task { [time = self.times.answer] in
            do { try await Task.sleep(for: time) } catch { return }
            asking.cancel()
        }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await asking.result
        } onCancel: {
            asking.cancel()
        }
        switch result {
        case .success(let reading):
            self.note(nil)
            return reading
        case .failure(ClientError.cancelled): self.note("the gateway does not answer")
        case .failure(let error): self.note("\(error)")
        }
        return nil
    }

    private func note(_ trouble: String?) {
        guard trouble != self.trouble || !self.hasAnswered, !self.isClosed else { return }
        (self.trouble, self.hasAnswered) = (trouble, true)
        self.tell(trouble)
    }

    private func answer() async throws -> GatewayReading {
        let observer = try await self.connected()
        let counters: GatewayCounters
        do throws(ClientError) { counters = try await observer.counters() } catch {
            // The gateway closed the connection for good; the next question may find another one.
            if error != .cancelled { await self.drop() }
            throw error
        }
        let gateway = await observer.state.gateway
        return GatewayReading(
            gateway: gateway.instance, version: gateway.software, start: gateway.start, counters: counters,
            age: .zero)
    }

    private func connected() async throws(ClientError) -> Observer {
        if let observer = self.observer { return observer }
        if let refusal = self.refusal, ContinuousClock.now < refusal.until { throw refusal.error }
        let observer: Observer
        do throws(ClientError) {
            observer = try await Observer.connect(to: self.address, self.configuration)
        } catch {
            if case .refused(_, let time?, _) = error { self.refusal = (error, ContinuousClock.now + time) }
            throw error
        }
        guard !self.isClosed else {
            await observer.close()
            throw .cancelled
        }
        self.observer = observer
        return observer
    }
}
