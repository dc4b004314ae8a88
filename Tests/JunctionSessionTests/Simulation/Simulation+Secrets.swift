import JunctionSecret

/// A secret that the owner was given, as long as somebody has it.
struct IssuedSecret {
    weak var secret: SharedSecret?
}

/// The owner lets go of each secret that it needs no more.
extension Simulation {
    /// A secret for the owner, which the judge remembers.
    func secret(_ text: String) -> SharedSecret {
        let secret = SharedSecret(text: text)
        issued.append(IssuedSecret(secret: secret))
        return secret
    }

    func judgeSecrets() {
        issued.removeAll { $0.secret == nil }
        // Eight sign-outs wait to be told at the most, each with two tokens; the rest are the session's, the disk's, and an app's.
        if issued.count > 40 { fail("secrets pile up: \(issued.count) are still held") }
    }
}
