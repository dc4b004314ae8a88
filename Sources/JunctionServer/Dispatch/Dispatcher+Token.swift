import JunctionProtocol
import JunctionSession
import NIOCore

/// Access tokens.
extension Dispatcher {
    func getToken(_ request: Request, _ params: TokenGet.Params?) {
        let validity = params?.validity ?? .zero
        let generation = prepared.withToken(validFor: validity, of: owner) { request.succeed(with: $0) }
        if let generation {
            handedOutToken(to: request.connection, generation)
        } else {
            waitForToken(request, validity)
        }
    }

    private func waitForToken(_ request: Request, _ validity: Duration) {
        let user = request.peer.user
        let awaited = NIOLoopBound((self, request.connection), eventLoop: eventLoop)
        let answer = request.laterOrDenied(TokenGet.self)
        let began = owner.now.uptime
        owner.assumeIsolated { owner in
            owner.token(minimumValidity: validity, by: user) { outcome in
                let (dispatcher, connection) = awaited.value
                dispatcher.counters.tokenWaits.note(dispatcher.owner.now.uptime - began)
                guard case .success(let token) = outcome else {
                    return answer(outcome.map(AccessToken.init).mapError(WireError.init))
                }
                // A reload may have taken the right away while the token was being renewed.
                guard connection.may(.token) else {
                    return answer(.failure(dispatcher.denial(of: .tokenGet, to: connection.peer, lacking: .token)))
                }
                answer(.success(AccessToken(token)))
                dispatcher.handedOutToken(to: connection, token.facts.generation)
            }
        }
    }

    func handedOutToken(to connection: Connection, _ generation: UInt64) {
        handedOutToken(to: connection.peer, countedAt: connection.unitPlace, generation)
    }

    /// - Parameter place: where the peer's unit is counted.
    func handedOutToken(to peer: Peer, countedAt place: UnitTally.Place, _ generation: UInt64) {
        counters.tokensServed += 1
        unitTally.count(place)
        observer.handedOutToken(to: peer, generation: generation)
    }
}
