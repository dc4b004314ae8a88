package import JunctionSecret
import JunctionSession

/// Revokes granted tokens that no session uses, and retries until the server has confirmed it.
extension OAuthProvider {
    static let revocationPatience: Duration = .seconds(5)
    /// With a first pause of 30 s that doubles each time, the attempts take about one hour.
    private static let mostAttempts = 8

    /// Revokes the tokens, and retries later if that fails.
    func giveUp(_ tokens: Revocable) async {
        do throws(Unavailability) {
            guard let endpoint = try await server.optional(.revocation, at: tokens.origins) else { return }
            try await revoke(tokens.fields, at: endpoint)
        } catch {
            tellAgain(tokens, after: 1)
        }
    }

    /// Revokes the tokens without waiting.
    private func revokeUnwanted(_ tokens: Revocable, attempt: Int = 0) {
        guard let endpoint = server.remembered(.revocation, at: tokens.origins) else {
            tellAgain(tokens, after: attempt + 1)
            return
        }
        server.send(tokens.fields, to: endpoint, patience: Self.revocationPatience) { answer in
            if let answer, failure(of: answer) == nil { return }
            tellAgain(tokens, after: attempt + 1)
        }
    }

    private func tellAgain(_ tokens: Revocable, after attempts: Int) {
        guard attempts < Self.mostAttempts else { return }
        server.http.schedule(in: pause * (1 << (attempts - 1))) { revokeUnwanted(tokens, attempt: attempts) }
    }

    package func revokePartialGrant(_ partialGrant: SharedSecret) async {
        guard let grant = OAuthPartialGrant(partialGrant, now: clock.now()) else { return }
        await giveUp(grant.revocation)
    }

    // MARK: Partial grants

    /// Stores the grant. Returns when it is on disk or the disk write has failed; throws if no caller waits for the
    /// sign-in any more.
    func keep(_ grant: OAuthPartialGrant, with store: PartialGrantStore) async throws(SignInFailure) {
        guard await store.keep(grant.content) else {
            throw .unavailable(Unavailability("Nobody waits for the sign-in any more"))
        }
    }

    /// Handles an answer without a usable access token. The credential is spent. If there is a refresh token, it is
    /// stored for the next attempt; otherwise the tokens are revoked.
    func keep(_ unusable: OAuthReply.Unusable, with store: PartialGrantStore) async -> SignInFailure {
        guard let refreshToken = unusable.refreshToken else {
            await giveUp(unusable.revocation)
            return .refused(unusable.why.message)
        }
        do throws(SignInFailure) {
            try await keep(.refreshToken(refreshToken, unusable.origins), with: store)
        } catch {
            return error
        }
        if !store.isLasting { await giveUp(unusable.revocation) }
        var why = unusable.why
        why.ambiguous = true
        return .unavailable(why)
    }
}
