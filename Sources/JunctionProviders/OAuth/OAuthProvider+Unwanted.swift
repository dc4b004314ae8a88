import JunctionSession

/// Tokens that a server has granted and nobody will ask for again: it is told to revoke them, until it has heard.
extension OAuthProvider {
    static let revocationPatience: Duration = .seconds(5)
    /// With pauses that double, that is two hours for those that are told every half minute at first.
    private static let mostAttempts = 8

    /// Tells the server, and again later where it does not hear.
    func giveUp(_ tokens: OAuthTokens) async {
        do throws(Unavailability) {
            guard let endpoint = try await server.optional(.revocation) else { return }
            try await revoke(tokens.revocation, at: endpoint)
        } catch {
            tellAgain(tokens, after: 1)
        }
    }

    /// The same where nobody can wait.
    private func dismiss(_ tokens: OAuthTokens, attempt: Int = 0) {
        guard let endpoint = server.remembered(.revocation) else {
            tellAgain(tokens, after: attempt + 1)
            return
        }
        server.send(tokens.revocation, to: endpoint, patience: Self.revocationPatience) { answer in
            if let answer, hears(answer) == nil { return }
            tellAgain(tokens, after: attempt + 1)
        }
    }

    private func tellAgain(_ tokens: OAuthTokens, after attempts: Int) {
        guard attempts < Self.mostAttempts else { return }
        server.http.schedule(in: pause * (1 << (attempts - 1))) { dismiss(tokens, attempt: attempts) }
    }

    // MARK: Those that wait for a next try

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
