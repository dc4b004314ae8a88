/// What the histories have been through: a proof is worth what it has met.
struct Coverage {
    enum Kind: String, CaseIterable {
        case begunSignedIn, signInsWritten, switchesWritten, rotations, replays, secondReplays, postponements,
            terminations
        case reauthentications, signOuts, ambiguous, crashIdle, crashAsking, crashNoting, crashSending, crashStoring
        case crashSigningIn, crashSigningOut, crashUndurable, writesFailed, clockSteps, clockStepsInFlight, suspends,
            hurriedRetries
        case handlersVanished, silentHandlers, lateHandlers, revocationsTold, lossesWithoutGrace, overtakenGrants,
            handlerRenewals
        case presumedDemands, presumedHealed
        case unreadableStarts, freshEndings, apiVerdicts, enrolments, enrolmentsOvertaken
        case successorsAlone
        case partialGrants, partialGrantsResumed, partialGrantsGivenBack
        case rightsWithdrawn, rightsWithdrawnInFlight, approvalRightsWithdrawn, pausesKept
        case codesGiven, polls, approvals, approvalsRefused, crashAwaiting, crashPolling
    }

    private(set) var counts: [Kind: Int] = [:]

    mutating func note(_ kind: Kind) { counts[kind, default: 0] += 1 }

    subscript(kind: Kind) -> Int { counts[kind] ?? 0 }

    mutating func add(_ other: Coverage) {
        for (kind, count) in other.counts { counts[kind, default: 0] += count }
    }

    var words: String { Kind.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ") }
}
