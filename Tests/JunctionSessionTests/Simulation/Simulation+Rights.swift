@testable import JunctionSession

/// Rights that are withdrawn, pauses that the provider has demanded, and time that passes: each with its judge.
extension Simulation {
    // MARK: Rights

    /// Somebody who waits for a sign-in may do so no more, or who began the sign-in that awaits approval.
    mutating func withdrawRight() throws(Broken) {
        if (machine.signIn.device != nil), chance(2) == 0 {
            coverage.note(.approvalRightsWithdrawn)
            if let ref = machine.signIn.device?.codes, let code = shelf[ref]?.code { withdrawnCodes.insert(code) }
            return try perform(machine.approvalRightWithdrawn(now: now))
        }
        // What is being written has counted already.
        let isWritten = machine.ledger.isSigningIn
        let requests = machine.callers.list.filter { caller in
            switch caller.wait {
            case .turn, .credential, .codes, .approval: true
            case .session: !isWritten
            default: false
            }
        }
        guard !requests.isEmpty else { return }
        let request = requests[chance(requests.count)].id
        coverage.note(.rightsWithdrawn)
        if let exchange = machine.signIn.exchange, exchange.request == request {
            coverage.note(.rightsWithdrawnInFlight)
            withdrawnAttempts.insert(exchange.attempt)
        }
        withdrawn.insert(request)
        try perform(machine.rightWithdrawn(from: [request], now: now))
    }

    /// What is granted for somebody who may not sign in any more is nobody's.
    mutating func noteUnwanted(_ tokens: SimulatedProvider.Tokens, _ call: Call, _ attempt: Attempt) {
        var isUnwanted = withdrawnAttempts.contains(attempt)
        if case .poll(let code) = call.kind, withdrawnCodes.contains(code) { isUnwanted = true }
        if isUnwanted, let family = provider.family(of: tokens.refresh) { unwanted.insert(family) }
    }

    func checkRights() throws(Broken) {
        guard let served = machine.servedSecrets, let refresh = shelf[served]?.refresh,
            let family = provider.family(of: refresh), unwanted.contains(family)
        else { return }
        throw Broken(description: "somebody is signed in by a right that was withdrawn")
    }

    // MARK: Pauses

    /// The provider wants to be left alone.
    mutating func noteDemand(_ pause: Duration, of call: Call) {
        guard call.isRenewal || call.kind.isPoll else { return }
        // More than an hour is not believed.
        demanded[call.kind] = time + min(pause, .seconds(3_600)).wholeMilliseconds
        demandedAt = time
    }

    /// No request of that kind leaves before the pause is over.
    mutating func checkDemand(_ kind: Call.Kind) throws(Broken) {
        guard let end = demanded.removeValue(forKey: kind) else { return }
        coverage.note(.pausesKept)
        if time < end {
            throw Broken(description: "a request (\(kind)) leaves \(end - time) ms before the provider wants it")
        }
    }

    /// A process that begins knows what is on the disk, by its wall clock.
    mutating func keepDemandsOnDisk() {
        var isRenewalOnDisk = false
        if case .session(let stored)? = disk?.record.content { isRenewalOnDisk = stored.demandedUntil != nil }
        let isPollOnDisk = disk?.record.approval?.notBefore != nil
        let isClockSet = lastStep >= demandedAt
        demanded = demanded.filter { kind, _ in !isClockSet && (kind == .renewal ? isRenewalOnDisk : isPollOnDisk) }
    }

    // MARK: Time

    /// Time alone changes nothing that is shown: whatever changes by itself, the alarm rings for it.
    mutating func pass(to end: Int64) throws(Broken) {
        guard end > time else { return }
        let before = machine.facts(now: now)
        time = end - 1
        let after = machine.facts(now: now)
        if before != after { throw Broken(description: "time alone has changed \(before) to \(after)") }
        time = end
    }
}

extension Simulation.Call.Kind {
    fileprivate var isPoll: Bool {
        if case .poll = self { true } else { false }
    }
}
