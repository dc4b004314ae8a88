import JunctionSession

/// The expected state of the installation: the grants it received, the pauses that the provider demands, and withdrawn
/// rights.
///
/// The model uses only what is visible outside the owner: requests, answers, writes, snapshots, and reports to callers
/// and the observer.
struct Model {
    /// A login at the provider, identified by its newest tokens.
    struct Login: Equatable {
        var user: String
        var family: Int
        var refresh: Int
        var access: Int
        /// The app's own name for the user. The outer `nil` means that the model cannot know it.
        var name: String??
        /// Whether the login keeps the name that its user has when the login takes effect.
        var keepsName = false

        init(_ tokens: SimulatedProvider.Tokens) {
            (user, family, refresh, access) = (tokens.user, tokens.family, tokens.refresh, tokens.access)
        }

        /// Returns this login with the name that it gets when it replaces `held`.
        func named(after held: Login?) -> Login {
            var login = self
            if keepsName { (login.name, login.keepsName) = (held?.name, false) }
            return login
        }
    }

    /// A request whose outcome is unknown: its refresh token, its send time, and the refresh retries so far.
    struct Window {
        var token: Int
        var sentAt: Int64
        var refreshRetries = 0
        /// The time by which the same token must be sent again.
        var retryBefore: Int64?
        /// Whether the limit of refresh retries kept the last ambiguous outcome from opening a window.
        var isCapped = false
    }

    // MARK: Who is signed in
    /// The login of the installation. It is set when its sign-in takes effect.
    var held: Login?
    /// A granted sign-in that is being written, and its request if there is one.
    var granted: Login?
    var grantedTo: Int?
    /// Whether the session before a withdrawn sign-in is being written again.
    var isWithdrawing = false
    /// A granted renewal that is being written.
    var renewed: Login?
    /// Whether the provider has ended the session and the write is under way, or may be.
    var isEnding = false
    var mayEnd = false
    /// Whether the provider has demanded a new credential, or has refused for so long that the demand is presumed.
    var isDemanded = false
    var isPresumed = false
    /// The number of sign-ins and sign-outs, and of sign-outs alone.
    var era = 0
    var signOuts = 0
    /// The start of this process, and the generation on the disk at that time.
    var startedAt: Int64 = 0
    var restoredGeneration: UInt64 = 0
    /// Whether the process died with a served generation that the disk did not have. The snapshot had reported that.
    var hasLostMemory = false

    // MARK: Logins at the provider
    /// The latest login that was granted to each user, as far as this process has received it.
    var logins: [String: Int] = [:]
    /// The logins that were revoked, or that the provider has ended.
    var ended: Set<Int> = []
    /// Whether a revocation was given up: its secret has expired, or too many waited.
    var hasGivenUp = false
    /// The refresh tokens of partial grants that were neither revoked nor used for a sign-in.
    var unnamed: Set<Int> = []
    /// The link code of each user whose tokens are kept before the user is known.
    var unfinishedLinks: [String: Int] = [:]
    /// The time and the process in which each access token was obtained.
    var obtained: [Int: (at: Int64, restarts: Int)] = [:]

    // MARK: Requests
    /// The send times of renewals, and those of each token.
    var sends: [Int64] = []
    var sendsOfToken: [Int: [Int64]] = [:]
    /// The refresh tokens whose successor this process holds.
    var succeeded: Set<Int> = []
    /// The times at which the outcome of a request with each token became unknown.
    var noticed: [Int: [Int64]] = [:]
    /// The times at which each refresh token was refused without a reason, except to refresh retries.
    var unexplained: [Int: [Int64]] = [:]
    var window: Window?
    var refreshRetryTimes: [Int64] = []
    /// The refresh tokens whose session was ending when the process died. Their answers were discarded on purpose.
    var givenUp: Set<Int> = []
    /// The number of the provider's losses that were judged.
    var judgedLosses = 0
    /// The number of exchanges that have left.
    var exchanges = 0
    /// The times of the calls of each local user.
    var spent: [UInt32: [Int64]] = [:]
    /// The time before which no caller of `session.renew` may cause another attempt.
    var renewBarredUntil: Int64 = .min

    // MARK: Pauses
    /// The end of the pause that the provider demands for each kind of request, and the time of the last demand.
    var demanded: [Call.Kind: Int64] = [:]
    var demandedAt: Int64 = .min
    /// Whether `session.renew` began the renewal in flight. Its requests may leave during a demanded pause, which goes
    /// on.
    var isRenewalRequested = false
    /// The last poll of each code in this process, and the interval of each code.
    var polled: [Int: Int64] = [:]
    var intervals: [Int: Int64] = [:]
    /// The latest time of the next poll. `.max` while one is in flight.
    var pollDueBy: Int64 = .max

    // MARK: Handlers
    /// The open question.
    var open: (handler: Int, question: RenewalQuestion, until: Int64)?
    /// Before this time, handlers of these users are not asked, and others only if the token has expired.
    var quietUntil: Int64?
    var quietUsers: Set<UInt32> = []
    /// The time of a round's first question, and the local users who were asked in it.
    var rounds: [AttemptID: (began: Int64, users: Set<UInt32>)] = [:]

    // MARK: Rights
    /// The requests whose caller has lost its right.
    var withdrawn: Set<Int> = []
    /// The requests for codes, the codes that came, and those that must no longer be used.
    var deviceRequests: Set<Int> = []
    var codes: Set<Int> = []
    var withdrawnCodes: Set<Int> = []
    var areNextCodesWithdrawn = false
    /// The logins that were granted although their right was withdrawn.
    var unwanted: Set<Int> = []
    /// Whether the owner has reported a failed sign-in since the last check.
    var hasRefused = false
}

extension Model {
    /// Records the start of a process with the content of the disk. `nil` if the disk cannot be read.
    mutating func begin(_ disk: Disk?, _ world: Simulation) {
        let stored = disk?.record.session
        held = nil
        logins = [:]
        if let stored, let refresh = disk?.secrets.refreshToken?.number, let tokens = world.provider.tokens(of: refresh)
        {
            held = Login(tokens)
            held?.access = disk?.secrets.accessToken?.number ?? 0
            held?.name = .some(stored.externalUserId?.text)
            logins[tokens.user] = tokens.family
            // A login that was written before its right was withdrawn returns, unless it was overwritten.
            unwanted.remove(tokens.family)
            isPresumed = stored.reauthenticationPending && stored.unexplainedRefusals != nil
            isDemanded = stored.reauthenticationPending && !isPresumed
        } else {
            (isPresumed, isDemanded) = (false, false)
        }
        startedAt = world.time
        pollDueBy = .max
        // A kill before the end of a write leaves unknown which interval is on the disk.
        if let device = disk?.record.deviceSignIn, let code = disk?.secrets.codes?.deviceCode.number {
            intervals[code] = intervals[code] ?? device.interval.wholeMilliseconds
        }
        restoredGeneration = disk?.record.generation ?? 0
        era += 1
    }

    /// Records the death of the process. State that is not on the disk is lost.
    mutating func killed(_ world: Simulation) {
        let isDurable = world.snapshot.facts.storage.durable
        if world.isSigningOut || isEnding || mayEnd, let token = world.disk?.secrets.refreshToken?.number {
            givenUp.insert(token)
        }
        if !isDurable { hasLostMemory = true }
        let isSettled = isDurable && world.pendingWrite == nil
        if !isSettled { (demanded, intervals) = ([:], [:]) }
        keepDemands(of: world.disk?.record, isClockSet: world.lastStep >= demandedAt)
        isRenewalRequested = false
        // Grants that were not written are lost, and so are grants that were about to be revoked.
        unnamed.formIntersection(world.disk?.secrets.partialGrants.map(\.content.number) ?? [])
        // The pending write may end. The revocation of a grant that it removes is only in memory.
        if let write = world.pendingWrite {
            unnamed.formIntersection(write.secrets.partialGrants.map(\.content.number))
        }
        (granted, grantedTo, renewed, window, open, quietUntil) = (nil, nil, nil, nil, nil, nil)
        isWithdrawing = false
        (isEnding, mayEnd, areNextCodesWithdrawn) = (false, false, false)
        (rounds, succeeded, spent, polled) = ([:], [], [:], [:])
        renewBarredUntil = .min
    }

    /// Keeps the demanded pauses over the death of the process. If no write was pending, the pause of renewals has to be
    /// on the disk. The next process sends a renewal whose intent is open at once.
    private mutating func keepDemands(of record: SessionRecord?, isClockSet: Bool) {
        let isRenewalKept = record?.session?.renewalUnderWay == false
        let isPollOnDisk = record?.deviceSignIn?.notBefore != nil
        demanded = demanded.filter { kind, _ in !isClockSet && (kind == .renewal ? isRenewalKept : isPollOnDisk) }
    }

    /// Records a sign-out, which ends every earlier request.
    mutating func signsOut(_ world: Simulation) {
        for number in world.calls.keys { world.calls[number]?.isOvertaken = true }
        (granted, grantedTo, renewed, window, open) = (nil, nil, nil, nil, nil)
        isWithdrawing = false
        (isEnding, mayEnd) = (false, false)
        era += 1
        signOuts += 1
    }
}
