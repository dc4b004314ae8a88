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
            revokeLater(tokens, after: 1)
        }
    }

    /// Revokes the tokens without waiting.
    private func revokeWithoutWaiting(_ tokens: Revocable, attempt: Int = 0) {
        guard let endpoint = server.remembered(.revocation, at: tokens.origins) else {
            revokeLater(tokens, after: attempt + 1)
            return
        }
        server.send(tokens.fields, to: endpoint, patience: Self.revocationPatience) { answer in
            if let answer, failure(of: answer) == nil { return }
            revokeLater(tokens, after: attempt + 1)
        }
    }

    private func revokeLater(_ tokens: Revocable, after attempts: Int) {
        guard attempts < Self.mostAttempts else { return }
        server.http.schedule(in: pause * (1 << (attempts - 1))) { revokeWithoutWaiting(tokens, attempt: attempts) }
    }
}
