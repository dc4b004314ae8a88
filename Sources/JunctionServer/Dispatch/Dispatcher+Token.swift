import JunctionProtocol
import JunctionSession
import NIOCore

/// Access tokens.
extension Dispatcher {
    func getToken(_ request: Request, _ params: TokenGet.Params?) {
        let validity = params?.validity ?? .zero
        let generation = prepared.withToken(validFor: validity, of: owner) { request.succeed(with: $0) }
        if let generation {
            handedOutToken(to: request.caller, generation)
        } else {
            waitForToken(request, validity)
        }
    }

    private func waitForToken(_ request: Request, _ validity: Duration) {
        let user = request.caller.user
        let awaited = NIOLoopBound((self, request.caller), eventLoop: eventLoop)
        let answer = request.laterOrDenied(TokenGet.self)
        let began = owner.now.uptime
        owner.assumeIsolated { owner in
            owner.token(minimumValidity: validity, by: user) { outcome in
                let (dispatcher, caller) = awaited.value
                dispatcher.counters.tokenWaits.note(dispatcher.owner.now.uptime - began)
                guard case .success(let token) = outcome else {
                    return answer(outcome.map(AccessToken.init).mapError(WireError.init))
                }
                // A reload may have taken the right away while the token was being renewed.
                guard caller.may(.token) else {
                    return answer(.failure(dispatcher.denial(of: .tokenGet, to: caller, lacking: .token)))
                }
                answer(.success(AccessToken(token)))
                dispatcher.handedOutToken(to: caller, token.facts.generation)
            }
        }
    }

    func handedOutToken(to caller: Caller, _ generation: UInt64) {
        counters.tokensServed += 1
        unitTally.count(caller.unitPlace)
        observer.handedOutToken(to: caller.peer, generation: generation)
    }
}
