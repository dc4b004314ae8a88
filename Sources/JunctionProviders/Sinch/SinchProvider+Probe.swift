package import JunctionSession

/// The findings for `doctor`: whether the host answers, whether the clocks agree, and how users register.
extension SinchProvider {
    package func probe(
        _ identity: Identity?,
        mayCall: @Sendable () async -> SessionError?
    ) async -> [ProbeFinding] {
        let (host, skew) = await ReachabilityProbe(http: http, clock: clock).probe(
            cloud.registration,
            "provider registration",
            mayCall
        )
        return [host] + (skew.map { [.clock(ahead: $0)] } ?? []) + [secretFinding]
    }

    private var secretFinding: ProbeFinding {
        guard application.secret != nil else {
            return ProbeFinding(
                name: "provider application secret",
                verdict: .ok,
                detail: "Registration tokens come from your server: no application secret is on this device"
            )
        }
        return ProbeFinding(
            name: "provider application secret",
            verdict: .note,
            detail: "The application secret is on this device: whoever reads it can register anybody",
            remedy: "Make registration tokens on a server, and remove sinch.applicationSecretFile"
        )
    }
}
