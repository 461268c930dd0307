import StateCoding
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Peers that resume, and may not get the Welcome.
@Suite struct LostWelcomeTests {
    enum Kind: CaseIterable {
        case endpoint, client

        var role: Hello.Role { self == .endpoint ? World.endpoint("car") : World.client("app") }
        var first: ConnectionID { ConnectionID(self == .endpoint ? 1 : 2) }
    }

    /// A guided vehicle, a peer of which was cut, and the token that this peer has.
    private static func cut(_ kind: Kind) throws -> (world: World, token: ResumptionToken, session: SessionID)
    {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.handle(.departed(kind.first, clean: false))
        return (world, try #require(world.welcomes[kind.first]).resumptionToken, session)
    }

    private static func isResumed(_ world: World, _ id: UInt64) -> Bool? {
        world.welcomes[ConnectionID(id)]?.isResumed
    }

    @Test(arguments: Kind.allCases, [true, false])
    func `a peer that does not get the Welcome is resumed with its token, however often`(
        _ kind: Kind, _ isCutNoticed: Bool
    ) throws {
        var (world, token, session) = try Self.cut(kind)
        for id in UInt64(10)...13 {
            world.arrive(id, kind.role, token: token, resume: (session, 1))
            #expect(Self.isResumed(world, id) == true)
            if isCutNoticed { world.handle(.departed(ConnectionID(id), clean: false)) }
        }
        let takenOver = (UInt64(10)...12).map { world.goodbyes[ConnectionID($0)] }
        #expect(takenOver == Array(repeating: isCutNoticed ? nil : .takenOver, count: 3))
        #expect(world.gateway.sessions[session]?.client == ClientID(unchecked: "app"))
        if kind == .endpoint { #expect(world.beginnings(ConnectionID(13)).map(\.kind) == [.missed]) }
    }

    @Test(arguments: Kind.allCases, ["first frame", "newer token"])
    func `what shows that a peer got the Welcome ends the older token`(_ kind: Kind, _ sign: String) throws {
        var (world, token, _) = try Self.cut(kind)
        world.arrive(10, kind.role, token: token)
        let newer = world.welcomes[ConnectionID(10)]?.resumptionToken
        if sign == "first frame" { world.handle(.confirmed(ConnectionID(10))) }
        world.handle(.departed(ConnectionID(10), clean: false))
        world.arrive(11, kind.role, token: newer)
        #expect(Self.isResumed(world, 11) == true)
        // It is not valid; so the peer that is connected is not replaced, and one that is not has lost its state.
        world.arrive(12, kind.role, token: token)
        #expect(world.goodbyes[ConnectionID(12)] == .idInUse && world.goodbyes[ConnectionID(11)] == nil)
        world.handle(.departed(ConnectionID(11), clean: false))
        world.arrive(13, kind.role, token: token)
        #expect(Self.isResumed(world, 13) == false)
    }

    @Test(arguments: Kind.allCases)
    func `a first frame on a connection that was taken over does not end the older token`(_ kind: Kind) throws
    {
        var (world, token, _) = try Self.cut(kind)
        world.arrive(10, kind.role, token: token)
        world.arrive(11, kind.role, token: token)
        world.handle(.confirmed(ConnectionID(10)))
        world.handle(.departed(ConnectionID(11), clean: false))
        world.arrive(12, kind.role, token: token)
        #expect(Self.isResumed(world, 12) == true)
    }

    @Test(arguments: Kind.allCases)
    func `a Hello with the older token on an earlier connection is late`(_ kind: Kind) throws {
        var (world, token, _) = try Self.cut(kind)
        world.arrive(10, kind.role, token: token)
        let newer = world.welcomes[ConnectionID(10)]?.resumptionToken
        world.arrive(9, kind.role, token: token)
        #expect(world.goodbyes == [ConnectionID(9): .idInUse])
        // The later connection was cut as well, and the peer has the newer token.
        world.handle(.departed(ConnectionID(10), clean: false))
        world.arrive(8, kind.role, token: token)
        #expect(world.goodbyes == [ConnectionID(9): .idInUse, ConnectionID(8): .idInUse])
        world.arrive(11, kind.role, token: newer)
        #expect(Self.isResumed(world, 11) == true)
    }

    @Test(arguments: Kind.allCases, [true, false])
    func
        `a Hello on an earlier connection is late, also after the later one was confirmed and cut`(
            _ kind: Kind, _ hasToken: Bool
        ) throws
    {
        var (world, token, session) = try Self.cut(kind)
        world.arrive(10, kind.role, token: token)
        world.handle(.confirmed(ConnectionID(10)))
        let newer = world.welcomes[ConnectionID(10)]?.resumptionToken
        world.handle(.departed(ConnectionID(10), clean: false))
        world.arrive(9, kind.role, token: hasToken ? token : nil)
        #expect(world.goodbyes == [ConnectionID(9): .idInUse])
        world.arrive(11, kind.role, token: newer)
        #expect(Self.isResumed(world, 11) == true)
        #expect(world.gateway.sessions[session]?.client == ClientID(unchecked: "app"))
    }

    @Test(arguments: Kind.allCases)
    func `of two Hellos with the older token that come in order, the later one resumes`(_ kind: Kind) throws {
        var (world, token, _) = try Self.cut(kind)
        world.arrive(9, kind.role, token: token)
        world.arrive(10, kind.role, token: token)
        #expect(Self.isResumed(world, 10) == true)
        #expect(world.goodbyes == [ConnectionID(9): .takenOver])
    }

    @Test(arguments: Kind.allCases) func `a Goodbye ends both tokens`(_ kind: Kind) throws {
        var (world, token, _) = try Self.cut(kind)
        world.arrive(10, kind.role, token: token)
        let newer = world.welcomes[ConnectionID(10)]?.resumptionToken
        world.handle(.departed(ConnectionID(10), clean: true))
        for (id, token) in [(UInt64(11), token), (12, newer)] {
            world.arrive(id, kind.role, token: token)
            #expect(Self.isResumed(world, id) == false)
            world.handle(.departed(ConnectionID(id), clean: true))
        }
    }

    @Test(arguments: Kind.allCases) func `the next process knows both tokens`(_ kind: Kind) throws {
        for isSpareUsed in [true, false] {
            var (world, token, _) = try Self.cut(kind)
            world.arrive(10, kind.role, token: token)
            let newer = world.welcomes[ConnectionID(10)]?.resumptionToken
            let bytes = try StateCoder.encode(GatewayState(world.gateway), format: GatewayState.format)
            let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
            world.gateway = try #require(state.gateway(policy: world.gateway.policy, coder: Codec.coder))
            world.arrive(11, kind.role, token: isSpareUsed ? token : newer)
            #expect(Self.isResumed(world, 11) == true)
        }
    }

    // MARK: Sessions that ended

    /// A client that was cut, one of whose two sessions has ended since.
    private static func ended() throws -> (world: World, token: ResumptionToken, ended: ResumedSession) {
        var (world, token, _) = try Self.cut(.client)
        let bus = world.arrive(3, World.endpoint("bus"))
        world.arrive(4, World.client("app"), token: token)
        world.handle(.confirmed(ConnectionID(4)))
        let session = try world.guided(ConnectionID(4), ["bus"], request: "second")
        world.handle(.departed(ConnectionID(4), clean: false))
        world.handle(.received(bus, .cancelNavigation(.ownNavigationStarted), .none))
        let newer = try #require(world.welcomes[ConnectionID(4)]).resumptionToken
        return (
            world, newer,
            ResumedSession(
                session: session, sequence: 1, phase: .ended, endReason: .ownNavigationStarted)
        )
    }

    private static func ended(_ world: World, _ id: UInt64) -> [ResumedSession]? {
        world.welcomes[ConnectionID(id)]?.sessions.filter { $0.phase == .ended }
    }

    @Test func `a session that ended is in each Welcome until the client got one`() throws {
        var (world, token, ended) = try Self.ended()
        for id in UInt64(10)...12 {
            world.arrive(id, World.client("app"), token: token)
            #expect(Self.ended(world, id) == [ended])
            #expect(world.welcomes[ConnectionID(id)]?.sessions.count == 2)
        }
        world.handle(.confirmed(ConnectionID(12)))
        #expect(world.gateway.clients[ClientID(unchecked: "app")]?.toldEnded.isEmpty == true)
        world.handle(.departed(ConnectionID(12), clean: false))
        world.arrive(
            13, World.client("app"), token: world.welcomes[ConnectionID(12)]?.resumptionToken)
        #expect(Self.ended(world, 13) == [])
    }

    @Test(arguments: [true, false])
    func `a session that ends after a Welcome is in the next one, beside those that were told in vain`(
        _ isWelcomeLost: Bool
    ) throws {
        var (world, token, ended) = try Self.ended()
        world.arrive(10, World.client("app"), token: token)
        let newer = world.welcomes[ConnectionID(10)]?.resumptionToken
        world.handle(.departed(ConnectionID(10), clean: false))
        world.handle(.received(ConnectionID(1), .cancelNavigation(.ownNavigationStarted), .none))
        world.arrive(11, World.client("app"), token: isWelcomeLost ? token : newer)
        let told = try #require(Self.ended(world, 11))
        #expect(told.count == (isWelcomeLost ? 2 : 1))
        #expect(told.contains(ended) == isWelcomeLost)
        #expect(world.welcomes[ConnectionID(11)]?.sessions.count == told.count)
    }

    @Test func `a session that ends behind a lost Welcome is in the next one`() throws {
        var (world, token, ended) = try Self.ended()
        world.arrive(10, World.client("app"), token: token)
        world.handle(.received(ConnectionID(1), .cancelNavigation(.userStopped), .none))
        #expect(world.messages(ConnectionID(10)).map(\.type).contains(.sessionEnded))
        world.handle(.departed(ConnectionID(10), clean: false))
        world.arrive(11, World.client("app"), token: token)
        let told = try #require(Self.ended(world, 11))
        #expect(told.map(\.endReason) == [ended.endReason, .userStopped])
        world.handle(.confirmed(ConnectionID(11)))
        #expect(world.gateway.clients[ClientID(unchecked: "app")]?.toldEnded.isEmpty == true)
    }

    @Test func `a client whose token is not valid is told of no session`() throws {
        var (world, token, _) = try Self.ended()
        world.arrive(10, World.client("app"), token: token)
        world.handle(.departed(ConnectionID(10), clean: false))
        world.arrive(11, World.client("app"))
        #expect(world.welcomes[ConnectionID(11)]?.sessions == [])
    }
}
