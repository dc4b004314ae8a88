package import JunctionSecret
import JunctionSession

/// Tokens that a server has granted and nobody will ask for again: it is told to revoke them, until it has heard.
extension OAuthProvider {
    static let revocationPatience: Duration = .seconds(5)
    /// With pauses that double, that is two hours for those that are told every half minute at first.
    private static let mostAttempts = 8

    /// Tells the server, and again later where it does not hear.
    func giveUp(_ tokens: Revocable) async {
        do throws(Unavailability) {
            guard let endpoint = try await server.optional(.revocation, at: tokens.origins) else { return }
            try await revoke(tokens.fields, at: endpoint)
        } catch {
            tellAgain(tokens, after: 1)
        }
    }

    /// The same where nobody can wait.
    private func dismiss(_ tokens: Revocable, attempt: Int = 0) {
        guard let endpoint = server.remembered(.revocation, at: tokens.origins) else {
            tellAgain(tokens, after: attempt + 1)
            return
        }
        server.send(tokens.fields, to: endpoint, patience: Self.revocationPatience) { answer in
            if let answer, hears(answer) == nil { return }
            tellAgain(tokens, after: attempt + 1)
        }
    }

    private func tellAgain(_ tokens: Revocable, after attempts: Int) {
        guard attempts < Self.mostAttempts else { return }
        server.http.schedule(in: pause * (1 << (attempts - 1))) { dismiss(tokens, attempt: attempts) }
    }

    package func giveBack(_ partialGrant: SharedSecret) async {
        guard let grant = OAuthPartialGrant(partialGrant, now: clock.now()) else { return }
        await giveUp(grant.revocation)
    }

    // MARK: Those that wait for a further request

    /// Returns when it is on the disk, or the disk has refused it.
    func keep(_ grant: OAuthPartialGrant, with store: PartialGrantStore) async throws(SignInFailure) {
        guard await store.keep(grant.content) else {
            throw .unavailable(Unavailability("Nobody waits for the sign-in any more"))
        }
    }

    /// What it means for a sign-in that no usable access token came: the credential is spent, and where a refresh token came the
    /// next try goes on with that.
    func keep(_ unusable: OAuthReply.Unusable, with store: PartialGrantStore) async -> SignInFailure {
        guard !unusable.isForLong, let refreshToken = unusable.refreshToken else {
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
