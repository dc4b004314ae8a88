package import JunctionSession

/// What `doctor` wants to know: whether both hosts answer, and whether our clocks agree.
extension JunctionProvider {
    package func probe(_ identity: Identity?) async -> [ProbeFinding] {
        let site = identity.flatMap(JunctionSite.init(of:))
        let auth = site.map(cloud.auth) ?? cloud.overrides.auth
        let api = site.map(cloud.api) ?? cloud.overrides.api
        guard auth != nil || api != nil else {
            return [
                ProbeFinding(
                    name: "provider",
                    verdict: .note,
                    detail: "Which of Junction's hosts are used is known after a sign-in: nothing was looked at"
                )
            ]
        }

        var findings: [ProbeFinding] = []
        var skew: Duration?
        for (name, origin) in [("provider auth", auth), ("provider API", api)] {
            guard let origin else { continue }
            let (finding, difference) = await Doorbell(http: http, clock: clock).ring(origin, name)
            findings.append(finding)
            skew = skew ?? difference
        }
        if let skew { findings.append(Self.clockFinding(skew)) }
        return findings
    }

    static func clockFinding(_ skew: Duration) -> ProbeFinding {
        let size = skew < .zero ? .zero - skew : skew
        let words = "\(size.components.seconds) s \(skew < .zero ? "behind" : "ahead of") the provider's"
        let remedy = "Set the clock: enable time synchronisation (timedatectl set-ntp true)"
        return switch size {
        case ...Duration.seconds(30):
            ProbeFinding(name: "clock", verdict: .ok, detail: "The clock agrees with the provider's")
        case ...Duration.seconds(300):
            ProbeFinding(name: "clock", verdict: .note, detail: "The clock is \(words)", remedy: remedy)
        default:
            ProbeFinding(name: "clock", verdict: .problem, detail: "The clock is \(words)", remedy: remedy)
        }
    }
}

/// Asks a host for anything at all: whatever it answers, it can be reached.
private struct Doorbell {
    let http: OutgoingHttp
    let clock: any SessionClock

    /// - Returns: the finding, and how far our clock is ahead of the host's.
    func ring(_ origin: HttpOrigin, _ name: String) async -> (ProbeFinding, Duration?) {
        do throws(HttpFailure) {
            let call = HttpCall(method: "HEAD", origin: origin, target: "/", patience: .seconds(5))
            let answer = try await http.answer(to: call)
            let skew = answer.header("date").flatMap(HttpDate.parse).map { clock.now().wall - $0 }
            return (ProbeFinding(name: name, verdict: .ok, detail: "\(origin.place) answers"), skew)
        } catch {
            return (ProbeFinding(name: name, verdict: .problem, detail: error.detail, remedy: error.remedy), nil)
        }
    }
}
