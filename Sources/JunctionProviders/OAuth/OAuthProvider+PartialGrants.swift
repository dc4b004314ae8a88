package import JunctionSecret
package import JunctionSession

/// Keeps partial grants for the next attempt with the same credential.
extension OAuthProvider {
    /// Stores the grant. Returns when it is on disk or the disk write has failed; throws if the sign-in or
    /// renewal is no longer wanted.
    func keep(_ grant: OAuthPartialGrant, with store: PartialGrantStore) async throws(SignInFailure) {
        guard await store.keep(grant.content(grantedBy: setup.issuer)) else {
            throw .unavailable(Unavailability("The tokens are no longer wanted"))
        }
    }

    /// Handles an answer without a usable access token. The credential is spent. If there is a refresh token, the next
    /// attempt uses it; otherwise the session revokes the tokens: those of the earlier attempt, if it kept a refresh token,
    /// or else the access token.
    func keep(_ unusable: OAuthReply.Unusable, with store: PartialGrantStore) async -> SignInFailure {
        do throws(SignInFailure) {
            if let refreshToken = unusable.refreshToken {
                try await keep(.refreshToken(refreshToken, unusable.origins), with: store)
            } else {
                if let token = unusable.accessToken, partialGrant(store)?.revocation.refreshToken == nil {
                    try await keep(.accessToken(token, unusable.origins), with: store)
                }
                return .refused(unusable.why.message)
            }
        } catch {
            return error
        }
        var why = unusable.why
        why.ambiguous = true
        return .unavailable(why)
    }

    package func revokePartialGrant(_ partialGrant: SharedSecret) async throws(Unavailability) {
        guard let grant = OAuthPartialGrant(partialGrant, grantedBy: setup.issuer, now: clock.now()) else { return }
        try await revoke(grant.revocation)
    }
}
