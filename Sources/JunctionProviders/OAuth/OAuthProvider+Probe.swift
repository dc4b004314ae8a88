package import JunctionSession

/// The findings for `doctor`: whether the server answers and is the configured issuer, whether the clocks agree, and
/// the server's errors about this client.
extension OAuthProvider {
    package func probe(
        _ identity: Identity?,
        mayCall: @Sendable () async -> SessionError?
    ) async -> [ProbeFinding] {
        let (found, skew) = await lookAtServer(mayCall)
        let missing = found.verdict == .ok && server.remembered(.revocation) == nil ? [Self.noRevocation] : []
        return [found] + (skew.map { [.clock(ahead: $0)] } ?? []) + missing + moved + notes.findings
    }

    private func lookAtServer(_ mayCall: @Sendable () async -> SessionError?) async -> (ProbeFinding, Duration?) {
        do throws(OAuthServer.Failure) {
            let metadata = try await server.look(mayCall)
            let detail = "\(setup.issuer.place) answers, and is the configured issuer"
            return (ProbeFinding(name: Self.metadata, verdict: .ok, detail: detail), metadata.skew)
        } catch {
            return (finding(error), nil)
        }
    }

    private func finding(_ failure: OAuthServer.Failure) -> ProbeFinding {
        switch failure {
        case .absent where setup.endpoints[.token] != nil:
            ProbeFinding(
                name: Self.metadata,
                verdict: .ok,
                detail: "\(setup.issuer.place) has no metadata, and the endpoints are configured"
            )
        case .absent:
            ProbeFinding(
                name: Self.metadata,
                verdict: .problem,
                detail: "\(setup.issuer.place) has no metadata of its own",
                remedy: "Check oauth.issuer, or set oauth.tokenEndpoint and the others"
            )
        case .otherIssuer(let name):
            ProbeFinding(
                name: Self.metadata,
                verdict: .problem,
                detail:
                    "The server at \(setup.issuer.place) calls itself \(name), and oauth.issuer is \(setup.issuer.text)",
                remedy: "Set oauth.issuer to what the server says, to the letter"
            )
        case .unreachable(let why):
            ProbeFinding(
                name: Self.metadata,
                verdict: .problem,
                detail: why.message,
                remedy: "Check the network and oauth.issuer: the daemon keeps the session until the server answers"
            )
        case .notAllowed(let refusal):
            ProbeFinding(
                name: Self.metadata,
                verdict: .note,
                detail: "\(setup.issuer.place) was not asked: \(refusal.message)",
                remedy: "Ask again in a minute"
            )
        }
    }

    private var moved: [ProbeFinding] {
        server.moves.map { move in
            ProbeFinding(
                name: "provider endpoints",
                verdict: .problem,
                detail: move.detail(setup.issuer),
                remedy: move.remedy.prefix(1).uppercased() + move.remedy.dropFirst()
            )
        }
    }

    private static let metadata = "provider metadata"

    private static let noRevocation = ProbeFinding(
        name: "provider revocation",
        verdict: .note,
        detail: "The server names no revocation endpoint: the daemon cannot revoke tokens at a sign-out",
        remedy: "Set oauth.revocationEndpoint if the server has one"
    )
}
