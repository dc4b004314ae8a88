import JunctionProtocol
import JunctionSecret
import JunctionSession
import NIOCore

/// A connection of the service manager, which loads one credential for a unit. It gets the credential, or the end of
/// the connection without a byte. The daemon uses nothing that the peer sends.
final class CredentialConnection {
    let caller: Caller
    let eventLoop: any EventLoop
    private(set) var context: ChannelHandlerContext?
    private let name: CredentialName
    private let dispatcher: Dispatcher
    private let registry: ConnectionRegistry
    private var deadline: Scheduled<Void>?
    private var isAnswered = false
    /// Why there is no token, while the connection waits for a change of the session.
    private var obstacle: WireError?
    private var isDraining = false

    init(_ caller: Caller, _ name: CredentialName, registry: ConnectionRegistry, eventLoop: any EventLoop) {
        (self.caller, self.name, self.registry, self.eventLoop) = (caller, name, registry, eventLoop)
        dispatcher = registry.dispatcher
    }

    private func serve() {
        if let error = caller.refusal ?? dispatcher.startError { return refuse(error) }
        if let error = dispatcher.admit(name.method, of: caller) { return refuse(error) }
        switch name {
        case .accessToken, .authorizationHeader: sendToken()
        case .userId: withUser { send(ByteBuffer(string: $0)) }
        case .status: withUser { _ in dispatcher.tellState(to: caller) { send(ByteBuffer(bytes: $0)) } }
        }
    }

    /// Calls `body` with the signed-in user, or refuses: no user is signed in, or the daemon cannot open the stored
    /// session.
    private func withUser(_ body: (String) -> Void) {
        let facts = dispatcher.owner.assumeIsolated { $0.snapshot.facts }
        guard facts.state.isSignedIn, let userId = facts.userId else { return refuse("No user is signed in") }
        guard facts.storage.isReadable else {
            return refuse(facts.storage.reason ?? "The daemon cannot open the stored session")
        }
        body(userId)
    }

    /// Sends the token, which the daemon renews first if necessary. If the renewal fails for now, the connection asks
    /// again at the next change of the session.
    func sendToken() {
        obstacle = nil
        caller.requestBegan(0)
        dispatcher.waitForToken(for: caller, validFor: .zero) { [self] outcome in
            caller.requestEnded(0)
            guard !isAnswered, context != nil else { return }
            switch outcome {
            case .success(let token):
                var bytes = ByteBuffer(string: name == .authorizationHeader ? "Authorization: Bearer " : "")
                _ = token.secret.withUnsafeBytes { bytes.writeBytes($0) }
                send(bytes)
                dispatcher.handedOutToken(to: caller, token.facts.generation)
            case .failure(let error) where error.passesWithTime && !isDraining:
                obstacle = error
                dispatcher.pendingCredentials.add(self)
            case .failure(let error): refuse(error)
            }
        }
    }

    private func send(_ bytes: ByteBuffer) {
        guard let context else { return }
        isAnswered = true
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        context.writeAndFlush(Self.wrapOutboundOut(bytes)).whenComplete { _ in connection.value.close() }
    }

    private func refuse(_ error: WireError) {
        dispatcher.counters.count(error)
        refuse([error.message, error.remedy].compactMap(\.self).joined(separator: ": "))
    }

    private func refuse(_ reason: String) {
        isAnswered = true
        dispatcher.refusedCredential(name.rawValue, to: caller.peer, because: reason)
        close()
    }

    private func waitedLongEnough() {
        let limit = dispatcher.timeouts.credential.components.seconds
        // A peer may also not have read its answer.
        if isAnswered { return close() }
        let words = ["There was no valid token within \(limit) s", obstacle?.message, obstacle?.remedy]
        refuse(words.compactMap(\.self).joined(separator: ": "))
    }
}

extension CredentialConnection: CallerConnection {
    var usesWithdrawnRight: Bool { false }
    func rightWithdrawn() { close() }
    func bufferedData(at now: NIODeadline) -> CallerAccount.BufferedData {
        CallerAccount.BufferedData(bytes: 0, rest: .zero)
    }
    func overBudget() { close() }
    // The request has arrived already, so it is answered. But the session may not change any more.
    func drain() {
        isDraining = true
        if let obstacle { refuse(obstacle) }
    }
}

extension CredentialConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        deadline = eventLoop.scheduleTask(in: TimeAmount(dispatcher.timeouts.credential)) {
            connection.value.waitedLongEnough()
        }
        serve()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close()
    }

    // SwiftNIO calls this last, also for a connection that was never active.
    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        dispatcher.pendingCredentials.remove(self)
        if !isAnswered {
            let reason = "The connection was closed before there was a token, for example because the daemon ended"
            dispatcher.refusedCredential(name.rawValue, to: caller.peer, because: reason)
        }
        self.context = nil
        registry.closed(self)
    }
}

extension WireError {
    /// Whether there may be a token later, although no caller does anything.
    fileprivate var passesWithTime: Bool {
        switch knownCode {
        case .tokenExpired, .providerUnavailable, .misconfigured, .busy: true
        default: false
        }
    }
}
