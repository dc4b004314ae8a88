import JunctionSession

/// Revokes granted tokens that no session uses, in up to eight attempts within about an hour.
extension OAuthProvider {
    static let revocationPatience: Duration = .seconds(5)
    /// With a first pause of 30 s that doubles each time, the attempts take about one hour.
    private static let mostAttempts = 8

    /// Revokes the tokens, and retries later if that fails.
    func revokeUnused(_ tokens: Revocable) async {
        do throws(Unavailability) {
            guard let endpoint = try await server.optional(.revocation, at: tokens.origins) else { return }
            try await revoke(tokens.fields, at: endpoint)
        } catch {
            revokeLater(tokens, after: 1, retryAfter: error.retryAfter)
        }
    }

    /// Revokes the tokens without waiting.
    private func revokeWithoutWaiting(_ tokens: Revocable, attempt: Int = 0) {
        guard let endpoint = server.remembered(.revocation, at: tokens.origins) else {
            revokeLater(tokens, after: attempt + 1)
            return
        }
        server.send(tokens.fields, to: endpoint, patience: Self.revocationPatience) { answer in
            guard let answer else { return revokeLater(tokens, after: attempt + 1) }
            guard let why = failure(of: answer) else { return }
            revokeLater(tokens, after: attempt + 1, retryAfter: why.retryAfter)
        }
    }

    /// - Parameter retryAfter: the pause that the server demands, if it demands one.
    private func revokeLater(_ tokens: Revocable, after attempts: Int, retryAfter: Duration? = nil) {
        guard attempts < Self.mostAttempts else { return }
        let demanded = retryAfter.map { min($0, RenewalPolicy.believableRetryAfter.upperBound) } ?? .zero
        server.http.schedule(in: max(pause * (1 << (attempts - 1)), demanded)) {
            revokeWithoutWaiting(tokens, attempt: attempts)
        }
    }
}
