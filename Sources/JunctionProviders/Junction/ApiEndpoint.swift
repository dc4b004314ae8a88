import JunctionSecret
package import JunctionSession

/// Calls Junction's API as the signed-in user.
extension JunctionProvider {
    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard let site = JunctionSite(of: identity), let credential = Self.credential(secrets) else {
            throw Unavailability("The session has no credential for Junction's API: sign in again")
        }
        let api = ProviderApi(origin: cloud.api(site), http: http, clock: clock)
        return try await api.send(request, credential: credential)
    }

    /// Returns exactly one credential: the user's own token if there is one, else the API key.
    private static func credential(_ secrets: SessionSecrets) -> (name: String, value: SharedSecret)? {
        if let token = secrets.accessToken { return BearerToken.header(token) }
        return secrets.apiKey.map { ("x-vital-api-key", $0) }
    }

    /// Only the token endpoint can end a session.
    package func verdict(in answer: ApiAnswer) -> Verdict? { nil }
}
