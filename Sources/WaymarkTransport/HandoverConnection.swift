internal import NIOCore
internal import WaymarkGateway
internal import WaymarkProtocol

// The end of a connection's time in this process, and its beginning in the next one.
extension ConnectionHandler {
    /// From now on nothing is read and no timer runs, and what is sent waits. A connection that another process cannot go on
    /// with gets `goodbye` instead.
    func hold(_ goodbye: Goodbye) {
        guard let context = self.context, !self.isClosing, !self.isHeld else { return }
        guard context.channel.bareSocket != nil else { return self.handle(.closeRequested(goodbye)) }
        self.isHeld = true
        self.batches += Self.batchesMax
        self.cancelTimers()
        self.flush()
        self.outgoing.isHeld = true
    }

    /// Succeeds when the kernel has everything that was written, fails when the connection closes first. If it closes anyway:
    /// succeeds when it has closed, since its peer is to get the Goodbye. nil if there is no connection any more.
    func whenWritten() -> EventLoopFuture<Void>? {
        guard let channel = self.context?.channel else { return nil }
        guard self.isHeld else { return channel.closeFuture }
        let written = channel.writeAndFlush(ByteBuffer())
        written.assumeIsolated().whenSuccess { self.isWritten = true }
        return written
    }

    /// What happens to the transport from now on is the next process's business. Closes a connection with something
    /// half-written.
    ///
    /// - Returns: Whether it was closed.
    func letGo() -> Bool {
        guard self.isHeld, !self.isClosing else { return false }
        self.isLetGo = self.isWritten
        if !self.isWritten { self.cut() }
        return !self.isWritten
    }

    /// Takes the socket out of this process. The gateway must have nothing more for it.
    func detach() -> (state: ConnectionState, descriptor: CInt)? {
        guard self.isLetGo, let channel = self.context?.channel, let descriptor = channel.copyDescriptor()
        else {
            return nil
        }
        // Closes this process's descriptor; the connection itself stays while the copy does.
        defer { channel.close(promise: nil) }
        guard let cookie = SocketCookie(descriptor) else { return nil }
        self.noteSpoken()
        let waiting = self.outgoing.waitingFrames.map {
            ConnectionState.Waiting(frame: $0.frame, key: $0.key)
        }
        let state = ConnectionState(
            id: self.id, cookie: cookie, entrance: self.peer.entrance, source: self.peer.source,
            role: self.peer.role, session: self.session, deadline: self.deadline,
            input: self.splitter.rest, waiting: waiting)
        return (state, descriptor)
    }

    /// Goes on where the process before stopped: input that came with the connection, its timers, what waits. A peer that the
    /// rules of today do not allow gets a Goodbye instead.
    ///
    /// - Returns: Whether it goes on.
    func goOn() -> Bool {
        guard self.isHeld, let context = self.context else { return false }
        self.isHeld = false
        self.batches -= Self.batchesMax
        self.outgoing.isHeld = false
        self.outgoing.writabilityChanged(on: context)
        let mayStay = self.review()
        self.settle(self.outgoing.overflow)
        if !self.isClosing, let deadline = self.deadline { self.arm(deadline) }
        if !self.isClosing { self.takeInput() }
        self.readOn()
        return mayStay && !self.isClosing
    }
}
