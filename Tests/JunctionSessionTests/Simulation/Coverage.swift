/// Counts the situations that the histories have met. An invariant is tested only in situations that occur.
struct Coverage {
    enum Kind: Int, CaseIterable {
        case begunSignedIn, signInsWritten, switchesWritten, rotations, refreshRetries, secondRefreshRetries,
            postponements, terminations
        case reauthentications, signOuts, ambiguous, crashIdle, crashAsking, crashNoting, crashSending, crashStoring
        case crashSigningIn, crashSigningOut, crashUndurable, writesFailed, clockSteps, clockStepsInFlight, suspends,
            hurriedRetries
        case handlersVanished, silentHandlers, lateHandlers, revocationsTold, lossesWithoutGrace, overtakenGrants,
            handlerRenewals, passedPostponements,
            registrationsForgotten
        case presumedDemands, presumedHealed
        case unreadableStarts, freshEndings, apiVerdicts, bootstrapRetries, bootstrapsEnded
        case successorsAlone
        case partialGrants, partialGrantsResumed, partialGrantsGivenBack
        case rightsWithdrawn, rightsWithdrawnInFlight, rightsWithdrawnBeingWritten, approvalRightsWithdrawn, pausesKept
        case codesGiven, polls, approvals, approvalsRefused, crashAwaiting, crashPolling
        case refusedBesideQuestion, forgottenCallers, wrongClocks, lostApprovals
        case apiCalls, slowDowns, budgetsSpent, interruptedRevocations

        /// The number of histories in which each situation must occur at least once.
        var histories: Int {
            switch self {
            case .refusedBesideQuestion, .passedPostponements: 2_000
            default: 400
            }
        }
    }

    private(set) var counts = [Int](repeating: 0, count: Kind.allCases.count)

    mutating func note(_ kind: Kind) { counts[kind.rawValue] += 1 }

    subscript(kind: Kind) -> Int { counts[kind.rawValue] }

    mutating func add(_ other: Coverage) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    var words: String { Kind.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ") }
}
