package import JunctionSecret
import JunctionSession

/// Keeps partial grants for the next attempt with the same credential.
extension OAuthProvider {
    /// Stores the grant. Returns when it is on disk or the disk write has failed; throws if the sign-in or
    /// renewal is no longer wanted.
    func keep(_ grant: OAuthPartialGrant, with store: PartialGrantStore) async throws(SignInFailure) {
        guard await store.keep(grant.content(grantedBy: setup.issuer)) else {
            throw .unavailable(Unavailability("The tokens are no longer wanted"))
        }
    }

    /// Handles an answer without a usable access token. The credential is spent. If there is a refresh token, it is
    /// stored for the next attempt; otherwise the tokens are revoked.
    func keep(_ unusable: OAuthReply.Unusable, with store: PartialGrantStore) async -> SignInFailure {
        guard let refreshToken = unusable.refreshToken else {
            await revokeUnused(unusable.revocation)
            return .refused(unusable.why.message)
        }
        do throws(SignInFailure) {
            try await keep(.refreshToken(refreshToken, unusable.origins), with: store)
        } catch {
            return error
        }
        if !store.isLasting { await revokeUnused(unusable.revocation) }
        var why = unusable.why
        why.ambiguous = true
        return .unavailable(why)
    }

    package func revokePartialGrant(_ partialGrant: SharedSecret) async {
        guard let grant = OAuthPartialGrant(partialGrant, grantedBy: setup.issuer, now: clock.now()) else { return }
        await revokeUnused(grant.revocation)
    }
}
