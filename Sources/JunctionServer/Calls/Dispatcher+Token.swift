import JunctionProtocol
import JunctionSession
import NIOCore

extension Dispatcher {
    func getToken(_ request: Request, _ params: TokenGet.Params?) {
        let (caller, validity) = (request.caller, params?.validity ?? .zero)
        if handOutToken(to: caller, validFor: validity, { request.succeed(with: $0) }) { return }
        let answer = request.later(TokenGet.self)
        waitForToken(for: caller, validFor: validity) { [self] outcome in
            answer(outcome.map(AccessToken.init))
            if case .success(let token) = outcome, caller.isConnected {
                handedOutToken(to: caller, token.facts.generation)
            }
        }
    }

    /// Passes the encoded token to `tell` if a token in memory is valid for `validity`. Counts it, and returns whether
    /// it did.
    func handOutToken(
        to caller: Caller,
        validFor validity: Duration,
        _ tell: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard let generation = prepared.withToken(validFor: validity, of: owner, tell) else { return false }
        handedOutToken(to: caller, generation)
        return true
    }

    /// Waits for a token if none in memory is valid long enough.
    ///
    /// - Parameter then: called once on the event loop. If it sends the token, it must call `handedOutToken`.
    func waitForToken(
        for caller: Caller,
        validFor validity: Duration,
        then: @escaping (Result<ServedToken, WireError>) -> Void
    ) {
        let (user, began) = (caller.user, owner.now.uptime)
        let waiting = NIOLoopBound((self, caller, then), eventLoop: eventLoop)
        owner.assumeIsolated { owner in
            owner.token(minimumValidity: validity, by: user) { outcome in
                let (dispatcher, caller, then) = waiting.value
                dispatcher.counters.tokenWaits.note(dispatcher.owner.now.uptime - began)
                // A reload may have withdrawn the right while the token was renewed.
                if let denial = dispatcher.denial(of: .tokenGet, to: caller) { return then(.failure(denial)) }
                then(outcome.mapError(WireError.init))
            }
        }
    }

    func handedOutToken(to caller: Caller, _ generation: UInt64) {
        counters.tokensServed += 1
        unitCounters.count(caller.unitPlace)
        observer.happened(.tokenHandedOut(generation: generation), by: caller.peer)
    }
}
