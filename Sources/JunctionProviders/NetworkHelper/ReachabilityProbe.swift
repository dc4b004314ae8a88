import JunctionSession

/// A reachability probe: a host with any answer counts as reachable.
struct ReachabilityProbe: Sendable {
    let http: OutgoingHTTP
    let clock: any SessionClock

    /// - Parameter mayCall: returns the reason why the probe must not send a request now, or `nil`.
    /// - Returns: the finding, and how far the local clock is ahead of the host's.
    func probe(
        _ origin: HTTPOrigin,
        _ name: String,
        _ mayCall: @Sendable () async -> SessionError?
    ) async -> (ProbeFinding, Duration?) {
        if let refusal = await mayCall() {
            let detail = "\(origin.place) was not asked: \(refusal.message)"
            return (ProbeFinding(name: name, verdict: .note, detail: detail, remedy: "Ask again in a minute"), nil)
        }
        do throws(Unavailability) {
            let call = HTTPCall(method: "HEAD", origin: origin, target: "/", patience: .seconds(5))
            let answer = try await http.answer(to: call)
            let skew = answer.header("date").flatMap(HTTPDate.parse).map { clock.now().wall - $0 }
            return (ProbeFinding(name: name, verdict: .ok, detail: "\(origin.place) answers"), skew)
        } catch {
            return (ProbeFinding(name: name, verdict: .problem, detail: error.detail, remedy: error.remedy), nil)
        }
    }
}

extension ProbeFinding {
    /// Returns the finding for a local clock that is `skew` ahead of the provider's. Up to 30 s is fine, and more than
    /// 300 s is a problem.
    static func clock(ahead skew: Duration) -> ProbeFinding {
        let size = skew < .zero ? .zero - skew : skew
        let words = "\(size.components.seconds) s \(skew < .zero ? "behind" : "ahead of") the provider's"
        let remedy = "Set the clock: enable time synchronisation (timedatectl set-ntp true)"
        return switch size {
        case ...Duration.seconds(30):
            ProbeFinding(name: "provider clock", verdict: .ok, detail: "The clock agrees with the provider's")
        case ...Duration.seconds(300):
            ProbeFinding(name: "provider clock", verdict: .note, detail: "The clock is \(words)", remedy: remedy)
        default:
            ProbeFinding(name: "provider clock", verdict: .problem, detail: "The clock is \(words)", remedy: remedy)
        }
    }
}
