import Glibc
import JunctionProtocol
import NIOCore

/// Accepts the connections of local programs, keeps them, and closes them at the end.
final class ConnectionRegistry {
    let dispatcher: Dispatcher
    private(set) var policy: AccessPolicy
    /// The number of policy changes. Each caller recomputes its rights when it has changed.
    private(set) var policyVersion = 0
    let unitOfProcess: @Sendable (Int32) throws -> String?
    private let alwaysFindsUnits: Bool
    private let eventLoop: any EventLoop
    /// The accounts of all connected users.
    private var accounts: [UInt32: CallerAccount] = [:]
    private var connections: [ObjectIdentifier: any CallerConnection] = [:]
    private var whenEmpty: EventLoopPromise<Void>?
    private let memory: MemoryReturn

    init(_ settings: ServerSettings, dispatcher: Dispatcher, eventLoop: any EventLoop) {
        self.dispatcher = dispatcher
        self.eventLoop = eventLoop
        policy = settings.policy
        unitOfProcess = settings.unitOfProcess
        alwaysFindsUnits = settings.alwaysFindsUnits
        memory = MemoryReturn(eventLoop)
    }

    // MARK: Opening and closing

    /// Sets up a JSON-RPC connection that was just accepted. If it throws, the connection is closed.
    func admit(_ channel: any Channel, socketGroup: UInt32?) throws {
        let caller = try welcome(channel, socketGroup: socketGroup)
        let connection = Connection(caller, registry: self, eventLoop: eventLoop)
        try channel.pipeline.syncOperations.addHandler(connection)
        opened(connection, over: channel)
    }

    /// Sets up an HTTP connection that was just accepted. It is read only when it can use more input.
    func admitHTTP(_ channel: any Channel, socketGroup: UInt32?) throws {
        try channel.syncOptions?.setOption(.autoRead, value: false)
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        let caller = try welcome(channel, socketGroup: socketGroup)
        let connection = HTTPConnection(caller, registry: self, eventLoop: eventLoop)
        try channel.pipeline.syncOperations.addHTTPHandlers(connection, behind: connection.readBuffer)
        opened(connection, over: channel)
    }

    /// Sets up a connection of the service manager, which loads a credential for a unit. If it throws, the connection
    /// is closed without a byte.
    func admitCredential(_ channel: any Channel) throws {
        try channel.syncOptions?.setOption(.autoRead, value: false)
        let descriptor = try accept(channel)
        // The socket's group gives no right here.
        var peer = try recognise(descriptor, socketGroup: nil)
        guard peer.user == 0 else {
            throw noCredential(nil, to: peer, "The peer does not run as root, so it is not the service manager")
        }
        guard let request = CredentialRequest(address: UnixAddress.bytes(ofPeer: descriptor)) else {
            throw noCredential(nil, to: peer, "The peer's address is not one that the service manager uses for a unit")
        }
        // The kernel's answer about the process contradicts the address, for example in a container.
        if let unit = peer.unit, unit != request.unit, unit != "init.scope" {
            throw noCredential(request.name, to: peer, "The peer is in another unit than its address says")
        }
        peer.load(for: request.unit)
        guard let name = CredentialName(rawValue: request.name) else {
            throw noCredential(request.name, to: peer, "There is no such credential: load \(CredentialName.list)")
        }
        let caller = try makeCaller(peer, at: descriptor)
        let connection = CredentialConnection(caller, name, registry: self, eventLoop: eventLoop)
        try channel.pipeline.syncOperations.addHandler(connection)
        opened(connection, over: channel)
    }

    private func noCredential(_ name: String?, to peer: Peer, _ reason: String) -> ChannelError {
        dispatcher.refusedCredential(name, to: peer, because: reason)
        return .ioOnClosedChannel
    }

    private func opened(_ connection: any CallerConnection, over channel: any Channel) {
        connections[ObjectIdentifier(connection)] = connection
        dispatcher.counters.openConnections = connections.count
        guard let limit = dispatcher.timeouts.connection else { return }
        let end = eventLoop.scheduleTask(in: TimeAmount(limit)) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in end.cancel() }
    }

    /// The sizes of receive buffers. A connection that only subscribes must not cost kilobytes; one that sends much may
    /// use them.
    private static let receiveMemory = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 256, maximum: 16_384)

    private func welcome(_ channel: any Channel, socketGroup: UInt32?) throws -> Caller {
        let descriptor = try accept(channel)
        return try makeCaller(recognise(descriptor, socketGroup: socketGroup), at: descriptor)
    }

    /// Prepares a connection that was just accepted, and returns its descriptor. Throws if there are too many.
    private func accept(_ channel: any Channel) throws -> Int32 {
        dispatcher.counters.acceptedConnections += 1
        guard connections.count < dispatcher.limits.connectionsOfAll else {
            dispatcher.turnedAway(nil)
            throw ChannelError.ioOnClosedChannel
        }
        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        try channel.syncOptions?.setOption(.recvAllocator, value: Self.receiveMemory)
        let transport = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        guard let descriptor = transport else { throw ChannelError.operationUnsupported }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Decides whether the peer's user may have one more connection.
    private func makeCaller(_ peer: Peer, at descriptor: Int32) throws -> Caller {
        let account = accounts[peer.user] ?? CallerAccount(user: peer.user)
        accounts[peer.user] = account
        let isWelcome = account.connections < dispatcher.limits.connections
        if isWelcome {
            account.connections += 1
        } else {
            dispatcher.turnedAway(peer)
            guard account.refusedConnections < CallerLimits.refusedConnections else {
                throw ChannelError.ioOnClosedChannel
            }
            account.refusedConnections += 1
        }
        let refusal: WireError? = isWelcome ? nil : dispatcher.startError ?? .tooManyConnections
        return Caller(peer, account, refusal: refusal, descriptor: descriptor, registry: self)
    }

    private func recognise(_ descriptor: Int32, socketGroup: UInt32?) throws(PeerUnknown) -> Peer {
        do throws(PeerUnknown) {
            var peer = try Peer(of: descriptor, socketGroup: socketGroup)
            if alwaysFindsUnits || policy.namesUnits {
                peer.findUnit(unitOfProcess, connectedBy: descriptor, isNew: true)
            }
            return peer
        } catch {
            dispatcher.turnedAway(nil)
            throw error
        }
    }

    func closed(_ connection: any CallerConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        let account = connection.caller.account
        connection.caller.connectionClosed()
        if connection.caller.refusal != nil { account.refusedConnections -= 1 } else { account.connections -= 1 }
        removeIfIdle(account)
        dispatcher.counters.openConnections = connections.count
        memory.connectionClosed()
        if connections.isEmpty { whenEmpty?.succeed() }
    }

    /// Removes an idle account, so that the table does not grow with every user that was ever connected.
    func removeIfIdle(_ account: CallerAccount) {
        if account.isIdle { accounts[account.user] = nil }
    }

    /// Closes connections of a user that is over the limit, after the present work has finished: first those that have
    /// kept the most bytes for the longest time.
    func enforceBudgetSoon(_ account: CallerAccount) {
        guard !account.isEnforcementDue else { return }
        account.isEnforcementDue = true
        let bound = NIOLoopBound((self, account), eventLoop: eventLoop)
        eventLoop.execute {
            let (registry, account) = bound.value
            account.isEnforcementDue = false
            let excess = account.connectionsToClose(over: registry.dispatcher.limits.held, at: .now())
            for connection in excess { connection.overBudget() }
        }
    }

    // MARK: Rights

    /// Puts a new policy in force, also for open connections. Connections that use a withdrawn right are closed.
    func replacePolicy(with policy: AccessPolicy) {
        self.policy = policy
        policyVersion += 1
        for connection in connections.values { connection.caller.policyChanged() }
        for connection in connections.values where connection.usesWithdrawnRight { connection.rightWithdrawn() }
    }

    // MARK: The end

    /// Answers what has been received, within `Timeouts.drain`, and closes every connection.
    func drain() -> EventLoopFuture<Void> {
        dispatcher.handlers.stop()
        let empty = eventLoop.makePromise(of: Void.self)
        whenEmpty = empty
        guard !connections.isEmpty else {
            empty.succeed()
            return empty.futureResult
        }
        for connection in connections.values { connection.drain() }
        let registry = NIOLoopBound(self, eventLoop: eventLoop)
        let deadline = eventLoop.scheduleTask(in: TimeAmount(dispatcher.timeouts.drain)) { registry.value.closeAll() }
        return empty.futureResult.always { _ in deadline.cancel() }
    }

    private func closeAll() {
        for connection in connections.values { connection.close() }
    }
}
