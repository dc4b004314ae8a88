import JunctionProtocol
import JunctionSession
import NIOCore

/// The method `session.identify`: makes the app's user the signed-in one. The daemon may ask the app for a credential.
extension Dispatcher {
    func identify(_ request: Request, _ params: SessionIdentify.Params) throws(WireMismatch) {
        let externalUserId = try params.externalUserId.map(ExternalUserId.init(fromWire:))
        let (peer, observer) = (request.caller.peer, observer)
        let isAllowed = stillMay(.manage, request)
        let shown = shown(to: request.caller)
        let answer = laterIfAllowed(SessionIdentify.self, .sessionIdentify, request) {
            observer.identified(by: peer, $0.outcome)
        }
        let asker = NIOLoopBound(Asker(connection: request.connection, dispatcher: self), eventLoop: eventLoop)
        owner.assumeIsolated { owner in
            owner.identify(
                externalUserId: externalUserId,
                by: peer.user,
                while: isAllowed,
                caller: LocalCaller(peer),
                ask: { asker.value.ask($0, $1) },
                answer: { answer($0.map { IdentifyResult(outcome: .init($0), snapshot: shown($1)) }) }
            )
        }
    }

    /// Asks the connection that called `session.identify`, and no other, for a credential of its user.
    private struct Asker {
        let connection: Connection
        let dispatcher: Dispatcher

        func ask(_ request: JunctionSession.RequestID, _ externalUserId: ExternalUserId) {
            let (owner, eventLoop, deadline) = (dispatcher.owner, dispatcher.eventLoop, dispatcher.timeouts.question)
            connection.ask(
                SessionAuthenticate.self,
                SessionAuthenticate.Params(externalUserId: externalUserId.text),
                within: TimeAmount(deadline)
            ) { result in
                // A caller that has lost `manage` must not sign a user in.
                let credential =
                    connection.caller.may(.manage)
                    ? result.map(Credential.init).mapError { SessionError($0, within: deadline) }
                    : .failure(.notAllowedAnyMore)
                // Not from within the owner's own call, which has to finish first.
                eventLoop.execute { owner.assumeIsolated { $0.identifyAnswered(request, with: credential) } }
            }
        }

        private typealias Credential = JunctionSession.Credential
    }
}

extension ExternalUserId {
    /// Applies the record's limit to a user id. The wire has a general limit for names.
    fileprivate init(fromWire text: String) throws(WireMismatch) {
        guard let id = ExternalUserId(text) else {
            throw WireMismatch("externalUserId", "must have 1 to \(Self.longest) bytes")
        }
        self = id
    }
}

extension ServerObserver {
    fileprivate func identified(by peer: Peer, _ outcome: IdentifyResult.Outcome) {
        switch outcome {
        case .signedIn, .switched: happened(.signedIn, by: peer)
        case .signedOut: happened(.signedOut, by: peer)
        default: break
        }
    }
}

extension SessionError {
    fileprivate static let notAllowedAnyMore = SessionError(
        .permissionDenied,
        "The capability 'manage' was withdrawn while the question was open; nothing has changed"
    )

    fileprivate init(_ failure: QuestionFailure, within deadline: Duration) {
        let reason =
            switch failure {
            case .refused(let error): "was answered with an error (\(error.code)); the app that asked has its text"
            case .malformed(let mismatch): "was not answered with a credential: \(mismatch)"
            case .silence: "was not answered within \(deadline.components.seconds) s"
            case .connectionClosed: "could not be answered: the connection was closed"
            }
        self.init(.invalidCredential, "The question session.authenticate \(reason); nothing has changed")
    }
}
