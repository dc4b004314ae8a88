package import JunctionSession

/// The findings for `doctor`: whether the host answers, whether the clocks agree, and whether there is an API key.
extension SocialProvider {
    package func probe(
        _ identity: Identity?,
        mayCall: @Sendable () async -> SessionError?
    ) async -> [ProbeFinding] {
        let (api, skew) = await ReachabilityProbe(http: http, clock: clock).probe(cloud.api, "provider API", mayCall)
        return [api] + (skew.map { [.clock(ahead: $0)] } ?? []) + [keyFinding]
    }

    private var keyFinding: ProbeFinding {
        guard apiKey == nil else {
            return ProbeFinding(name: "provider API key", verdict: .ok, detail: "The API key is configured")
        }
        return ProbeFinding(
            name: "provider API key",
            verdict: .problem,
            detail: "No API key is configured, so nobody can sign in",
            remedy: "Set social.apiKeyFile, or the service manager's credential social.apiKey"
        )
    }
}
