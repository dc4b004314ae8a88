package import JunctionSession

/// The findings for `doctor`: whether both hosts answer and whether the clocks agree. Junction needs no configured
/// credential.
extension JunctionProvider {
    package func probe(
        _ identity: Identity?,
        mayCall: @Sendable () async -> SessionError?
    ) async -> [ProbeFinding] {
        let site = identity.flatMap(JunctionSite.init(of:))
        let auth = site.map(cloud.auth) ?? cloud.authOverride
        let api = site.map(cloud.api) ?? cloud.apiOverride
        guard auth != nil || api != nil else {
            return [
                ProbeFinding(
                    name: "provider",
                    verdict: .note,
                    detail: "Which of Junction's hosts are used is known after a sign-in: nothing was looked at"
                ),
                Self.credentialsFinding,
            ]
        }

        var findings: [ProbeFinding] = []
        var skew: Duration?
        for (name, origin) in [("provider auth", auth), ("provider API", api)] {
            guard let origin else { continue }
            let (finding, difference) = await ReachabilityProbe(http: http, clock: clock).probe(origin, name, mayCall)
            findings.append(finding)
            skew = skew ?? difference
        }
        if let skew { findings.append(.clock(ahead: skew)) }
        return findings + [Self.credentialsFinding]
    }

    private static let credentialsFinding = ProbeFinding(
        name: "provider credentials",
        verdict: .ok,
        detail: "None is configured, and none is needed: Sign-In Tokens and link codes come with the user"
    )
}
