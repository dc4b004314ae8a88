/// Counts the situations that the histories have met. An invariant is tested only in situations that occur.
struct Coverage {
    enum Kind: Int, CaseIterable {
        case begunSignedIn, signInsWritten, switchesWritten, rotations, refreshRetries, lateRefreshRetries,
            postponements, terminations
        case reauthentications, signOuts, ambiguous, crashIdle, crashAsking, crashNoting, crashSending, crashStoring
        case crashSigningIn, crashSigningOut, crashUndurable, writesFailed, clockSteps, clockStepsInFlight, suspends,
            hurriedRetries
        case handlersVanished, silentHandlers, lateHandlers, revocationsTold, overtakenGrants, handlerRenewals,
            passedPostponements, registrationsForgotten
        /// Logins that no daemon could have kept, each by its reason.
        case lossesWithoutGrace, lossesUnwanted, lossesWithMemory, lossesWhileAway, lossesAfterRetry, lossesNoticedLate,
            lossesBeyondLimit
        case presumedDemands, presumedHealed
        case unreadableStarts, freshEndings, apiVerdicts, bootstrapRetries, bootstrapsEnded
        case successorsAlone
        case partialGrants, partialGrantsResumed, partialGrantsGivenBack, partialGrantsOfRenewals
        case rightsWithdrawn, rightsWithdrawnInFlight, rightsWithdrawnBeingWritten, approvalRightsWithdrawn, pausesKept
        case codesGiven, polls, approvals, approvalsRefused, crashAwaiting, crashPolling
        case refusedBesideQuestion, forgottenCallers, wrongClocks, lostApprovals
        case apiCalls, slowDowns, budgetsSpent, interruptedRevocations

        /// The number of dense histories in which the situation must occur at least once. `nil` if it may be absent.
        var histories: Int? {
            switch self {
            case .refusedBesideQuestion, .passedPostponements: 2_000
            case .lossesUnwanted, .lossesWithMemory, .lossesWhileAway, .lossesAfterRetry, .lossesNoticedLate,
                .lossesBeyondLimit:
                nil
            default: 400
            }
        }
    }

    /// The simulated time.
    var simulated: Duration = .zero
    private(set) var counts = [Int](repeating: 0, count: Kind.allCases.count)

    mutating func note(_ kind: Kind) { counts[kind.rawValue] += 1 }

    subscript(kind: Kind) -> Int { counts[kind.rawValue] }

    mutating func add(_ other: Coverage) {
        simulated += other.simulated
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    var deviceYears: Double { simulated / .seconds(365 * 86_400) }

    /// Each situation and its count.
    var words: String { Kind.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ") }
}
