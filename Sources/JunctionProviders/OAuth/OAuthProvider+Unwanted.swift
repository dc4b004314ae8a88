import JunctionSecret
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

    // MARK: Those that wait for a next try

    /// Keeps it for this credential's next try, and gives back what there is no room for.
    func keep(_ grant: KeptGrant, of credential: SharedSecret, since era: KeptTokens.Era) async {
        for unwanted in kept.keep(grant, of: credential, at: clock.now(), since: era) { await giveUp(unwanted) }
        // Where to give them back is learnt now: later there may be nobody who could wait for it.
        if server.remembered(.revocation) == nil { _ = try? await server.optional(.revocation, at: nil) }
        watchKept()
    }

    /// What it means for a sign-in that no usable access token came: the credential is spent, and where a refresh token came the
    /// next try goes on with that.
    func keep(
        _ unusable: OAuthReply.Unusable,
        of credential: SharedSecret,
        since era: KeptTokens.Era
    ) async -> SignInFailure {
        guard !unusable.isForLong, let refreshToken = unusable.refreshToken else {
            kept.forget(credential)
            await giveUp(unusable.revocation)
            return .refused(unusable.why.message)
        }
        await keep(.refreshToken(refreshToken, unusable.origins), of: credential, since: era)
        var why = unusable.why
        why.ambiguous = true
        return .unavailable(why)
    }

    package func signedOut() {
        for tokens in kept.signedOut() { dismiss(tokens) }
    }

    func expireKept() {
        for tokens in kept.expire(clock.now()) { dismiss(tokens) }
    }

    /// A sign-in may end, by its time or with its caller, without a word to anybody.
    func watchKept() {
        guard kept.watch() else { return }
        server.http.schedule(in: kept.time + .milliseconds(1)) {
            kept.watched()
            expireKept()
            watchKept()
        }
    }
}
