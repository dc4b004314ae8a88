import JunctionSecret
package import JunctionSession

/// Junction's API, called as the signed-in user.
extension JunctionProvider {
    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard let site = JunctionSite(of: identity), let credential = Self.credential(secrets) else {
            throw Unavailability("The session has no credential for Junction's API: sign in again")
        }
        let api = VendorApi(origin: cloud.api(site), http: http, clock: clock)
        return try await api.send(request, credential: credential)
    }

    /// Exactly one of the two; the user's own token where there is one.
    private static func credential(_ secrets: SessionSecrets) -> (name: String, value: SharedSecret)? {
        if let token = secrets.accessToken { return BearerToken.header(token) }
        return secrets.apiKey.map { ("x-vital-api-key", $0) }
    }

    /// What ends a session of Junction's is said by the token endpoint alone.
    package func verdict(in answer: ApiAnswer) -> Verdict? { nil }
}
