import JunctionProtocol
import JunctionSession

/// What the session is good for: access tokens, and calls to the API.
extension Dispatcher {
    func getToken(_ request: Request, _ params: TokenGet.Params?) {
        let validity = params?.validity ?? .zero
        let isServed = prepared.withToken(validFor: validity, of: owner) { request.succeed(with: $0) }
        if isServed { handedOutToken(to: request.peer) } else { waitForToken(request, validity) }
    }

    private func waitForToken(_ request: Request, _ validity: Duration) {
        let peer = request.peer
        let answer = request.later(TokenGet.self) { [self] _ in handedOutToken(to: peer) }
        owner.assumeIsolated { owner in
            owner.token(minimumValidity: validity, by: peer.user) { answer($0.map(AccessToken.init)) }
        }
    }

    private func handedOutToken(to peer: Peer) {
        counters.tokensServed += 1
        observer.handedOutToken(to: peer)
    }

    func callApi(_ request: Request, _ call: JunctionProtocol.ApiRequest) {
        let user = request.peer.user
        let answer = request.later(ApiCall.self)
        owner.assumeIsolated { owner in
            owner.call(JunctionSession.ApiRequest(call), by: user) { answer($0.map(JunctionProtocol.ApiAnswer.init)) }
        }
    }
}
