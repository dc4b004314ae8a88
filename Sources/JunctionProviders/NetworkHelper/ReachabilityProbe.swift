import JunctionSession

/// Asks a host for anything at all: whatever it answers, it can be reached.
struct ReachabilityProbe: Sendable {
    let http: OutgoingHttp
    let clock: any SessionClock

    /// - Parameter mayCall: says why nobody may be asked now, if so.
    /// - Returns: the finding, and how far our clock is ahead of the host's.
    func probe(
        _ origin: HttpOrigin,
        _ name: String,
        _ mayCall: @Sendable () async -> SessionError?
    ) async -> (ProbeFinding, Duration?) {
        if let refusal = await mayCall() {
            let detail = "\(origin.place) was not asked: \(refusal.message)"
            return (ProbeFinding(name: name, verdict: .note, detail: detail, remedy: "Ask again in a minute"), nil)
        }
        do throws(Unavailability) {
            let call = HttpCall(method: "HEAD", origin: origin, target: "/", patience: .seconds(5))
            let answer = try await http.answer(to: call)
            let skew = answer.header("date").flatMap(HttpDate.parse).map { clock.now().wall - $0 }
            return (ProbeFinding(name: name, verdict: .ok, detail: "\(origin.place) answers"), skew)
        } catch {
            return (ProbeFinding(name: name, verdict: .problem, detail: error.detail, remedy: error.remedy), nil)
        }
    }
}

extension ProbeFinding {
    /// What it means that our clock is so far ahead of the provider's: half a minute is fine, five are a problem.
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
