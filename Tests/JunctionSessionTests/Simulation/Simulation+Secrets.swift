import JunctionSecret

@testable import JunctionSession

/// A secret that the owner was given. The reference is weak, so it shows when the secret is released.
struct IssuedSecret {
    weak var secret: SharedSecret?
}

/// The checks that the owner keeps only the secrets that it needs.
extension Simulation {
    /// Creates a secret for the owner and remembers it.
    func secret(_ text: String) -> SharedSecret {
        let secret = SharedSecret(text: text)
        issued.append(IssuedSecret(secret: secret))
        return secret
    }

    func judgeSecrets() {
        issued.removeAll { $0.secret == nil }
        // At most eight revocations wait, each with two tokens. The rest belongs to the session, the disk and an app.
        if issued.count > 40 { fail("secrets pile up: \(issued.count) are still held") }
    }

    /// Checks that the owner keeps one request for each waiting caller, and a bounded number of revocations and grants.
    func judgeMemory() {
        let owner = life.owner.assumeIsolated { owner in
            (
                requests: owner.requests.count, callers: owner.machine.callers.list.count,
                revocations: owner.machine.revocations.list.count, grants: owner.machine.grants.secrets.count
            )
        }
        // A bootstrap credential may wait for its next attempt.
        if owner.requests > waiting.count + 1 || owner.callers > waiting.count + 1 {
            fail("\(waiting.count) wait, and \(owner.requests) requests of \(owner.callers) callers are remembered")
        }
        if owner.revocations > RenewalPolicy.mostRevocations { fail("\(owner.revocations) revocations wait") }
        // Those of sign-ins, and one of a device sign-in.
        if owner.grants > PartialGrants.most + 1 { fail("\(owner.grants) grants are kept") }
    }

    /// Checks that a call after a minute without calls removes the counts of other users.
    func judgeForgetting() throws(Broken) {
        guard !keepsNothing else { return }
        signOut()
        try runWorld(until: time + 130_000)
        let calls = model.exchanges
        signIn()
        try runWorld(until: time + 1_000)
        try stop()
        guard model.exchanges > calls else { return }
        coverage.note(.forgottenCallers)
        let remembered = life.owner.assumeIsolated { $0.machine.budget.remembered }
        if remembered > 1 { fail("\(remembered) users are remembered, of whom one has called within a minute") }
        try stop()
    }
}
