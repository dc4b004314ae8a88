import JunctionSecret
package import JunctionSession

/// Calls the API that the configuration names, as the signed-in user.
///
/// Only that API knows to which user a path belongs, so the daemon refuses only paths that two servers could read
/// differently.
extension OAuthProvider {
    package func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        guard setup.api != nil else {
            throw SessionError(.unsupported, "No API is configured: set oauth.apiUrl to call one through the daemon")
        }
        // Such an API may distinguish a path with a slash at its end from one without.
        var request = request
        let endsWithSlash = request.path.count > 1 && request.path.hasSuffix("/")
        if endsWithSlash { request.path.removeLast() }
        var admitted = try request.normalForm(like: "/resource", allowing: .anything) { segments, _ in segments }
        if endsWithSlash { admitted.path += "/" }
        return admitted
    }

    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard let origin = setup.api, let token = secrets.accessToken, setup.issuer.isNamed(identity.issuer) else {
            throw Unavailability("The session has no credential for the API of oauth.apiUrl: sign in again")
        }
        let api = ProviderApi(origin: origin, http: server.http, clock: clock)
        return try await api.send(request, credential: BearerToken.header(token))
    }

    /// An answer of the API never ends a session: its 401 is about the token.
    package func verdict(in answer: ApiAnswer) -> Verdict? { nil }
}
