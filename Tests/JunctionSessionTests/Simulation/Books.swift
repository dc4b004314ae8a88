import JunctionSession

/// The judge's own books: what the device has been given, what the provider has asked for, and what was withdrawn.
///
/// They are kept from what a user of the owner can see: what it sends, what it is answered, what it writes, what it shows, and
/// what it tells its callers and its observer.
struct Books {
    /// A login at the provider, by its newest tokens.
    struct Login: Equatable {
        var user: String
        var family: Int
        var refresh: Int
        var access: Int
        /// The app's own name for the user; nothing where the judge cannot know it.
        var name: String??
        /// It keeps the name that its user has when it counts.
        var keepsName = false

        init(_ tokens: SimulatedProvider.Tokens) {
            (user, family, refresh, access) = (tokens.user, tokens.family, tokens.refresh, tokens.access)
        }

        /// The same, as it comes to count in the place of what is held.
        func named(after held: Login?) -> Login {
            var login = self
            if keepsName { (login.name, login.keepsName) = (held?.name, false) }
            return login
        }
    }

    /// An outcome is unknown: the refresh token of the request, when that was sent, and what has been done about it.
    struct Window {
        var token: Int
        var sentAt: Int64
        var replays = 0
        /// The same token has to leave again before this.
        var replayBefore: Int64?
        /// The cap on replays kept the last ambiguous outcome from opening a window.
        var isCapped = false
    }

    // Who is signed in.
    /// The login that the device holds, from when its sign-in counts.
    var held: Login?
    /// A sign-in was granted, and is being written; for which request, if it was for one.
    var granted: Login?
    var grantedTo: Int?
    /// A renewal was granted, and is being written.
    var renewed: Login?
    /// The provider has ended the session: it is being written, or it may be.
    var isEnding = false
    var mayEnd = false
    /// The provider has said that it wants a new credential; or it has refused for so long that this is presumed.
    var isDemanded = false
    var isPresumed = false
    /// Counts sign-ins and sign-outs, and sign-outs alone.
    var era = 0
    var signOuts = 0
    /// When this process began, and what the disk had then.
    var startedAt: Int64 = 0
    var restoredGeneration: UInt64 = 0
    /// A generation was served that the disk did not have when the process died: what was promised is lost, as it said.
    var hasLostMemory = false

    // Logins at the provider.
    /// The latest login that each user was granted, as far as this process heard of it.
    var logins: [String: Int] = [:]
    /// The logins of whose end the provider was told, or has told us.
    var ended: Set<Int> = []
    /// A sign-out was never heard of: the proof of it has ended, or too many waited.
    var hasGivenUp = false
    /// Refresh tokens that were granted before their user was known, and that nobody has given back or signed in with.
    var unnamed: Set<Int> = []
    /// The link code of each user whose tokens are kept, and whose user was not told yet.
    var unfinishedLinks: [String: Int] = [:]
    /// When an access token came, and in which life of the process.
    var obtained: [Int: (at: Int64, restarts: Int)] = [:]

    // Requests.
    /// When renewals were sent, and with which token.
    var sends: [Int64] = []
    var sendsOfToken: [Int: [Int64]] = [:]
    /// Refresh tokens whose successor this process holds.
    var succeeded: Set<Int> = []
    /// When it was noticed that the outcome of a request with a token is unknown.
    var noticed: [Int: [Int64]] = [:]
    /// When a refresh token was refused without a reason, replays left out.
    var unexplained: [Int: [Int64]] = [:]
    var window: Window?
    var replayTimes: [Int64] = []
    /// Refresh tokens whose session was being ended when the process died: their answers were thrown away on purpose.
    var givenUp: Set<Int> = []
    /// How many losses at the provider have been judged.
    var judgedLosses = 0
    /// How many sign-ins have left.
    var exchanges = 0
    /// When each local user has caused calls.
    var spent: [UInt32: [Int64]] = [:]
    /// Until when no caller of `session.renew` may cause a further attempt.
    var renewBarredUntil: Int64 = .min

    // Pauses.
    /// Until when the provider wants no request of a kind, and when it last said so.
    var demanded: [Call.Kind: Int64] = [:]
    var demandedAt: Int64 = .min
    /// When a code was polled with last, in this life of the process, and how far apart polls have to be.
    var polled: [Int: Int64] = [:]
    var intervals: [Int: Int64] = [:]
    /// When the next poll is due at the latest; never while one is out.
    var pollDueBy: Int64 = .max

    // Handlers.
    /// The question that an app is being asked.
    var open: (handler: Int, question: RenewalQuestion, until: Int64)?
    /// Before this, handlers of these users are not asked, and others only while the token is dead.
    var quietUntil: Int64?
    var quietUsers: Set<UInt32> = []
    /// When the first question of a round was asked, and which local users were asked in it.
    var rounds: [Attempt: (began: Int64, users: Set<UInt32>)] = [:]

    // Rights.
    /// Requests whose caller has lost the right to them.
    var withdrawn: Set<Int> = []
    /// The requests for codes, the codes that came, and those that nobody may use any more.
    var deviceRequests: Set<Int> = []
    var codes: Set<Int> = []
    var withdrawnCodes: Set<Int> = []
    var areNextCodesWithdrawn = false
    /// Logins that were granted although the right to them was withdrawn.
    var unwanted: Set<Int> = []
    /// The owner has reported that a sign-in failed, since the judge last looked.
    var hasRefused = false
}

extension Books {
    /// A process begins, with what the disk has; nothing where it cannot read that.
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
            // What was written before the right to it was withdrawn comes back, unless it was written over.
            unwanted.remove(tokens.family)
            isPresumed = stored.isReauthenticationPresumed
            isDemanded = stored.reauthenticationPending && !isPresumed
        } else {
            (isPresumed, isDemanded) = (false, false)
        }
        startedAt = world.time
        pollDueBy = .max
        restoredGeneration = disk?.record.generation ?? 0
        era += 1
    }

    /// The process dies now. What the disk has not taken is not known any more.
    mutating func killed(_ world: Simulation) {
        let isDurable = world.snapshot.facts.storage.durable
        if world.isSigningOut || isEnding || mayEnd, let token = world.disk?.secrets.refreshToken?.number {
            givenUp.insert(token)
        }
        if !isDurable { hasLostMemory = true }
        let isSettled = isDurable && world.pendingWrite == nil
        if !isSettled { (demanded, intervals) = ([:], [:]) }
        keepDemands(of: world.disk?.record, isClockSet: world.lastStep >= demandedAt)
        // What was granted and not written is lost, and so is what was about to be given back.
        unnamed.formIntersection(world.disk?.secrets.partialGrants.map(\.content.number) ?? [])
        (granted, grantedTo, renewed, window, open, quietUntil) = (nil, nil, nil, nil, nil, nil)
        (isEnding, mayEnd, areNextCodesWithdrawn) = (false, false, false)
        (rounds, succeeded, spent, polled) = ([:], [], [:], [:])
        renewBarredUntil = .min
    }

    private mutating func keepDemands(of record: SessionRecord?, isClockSet: Bool) {
        let isRenewalOnDisk = record?.session?.demandedUntil != nil
        let isPollOnDisk = record?.approval?.notBefore != nil
        demanded = demanded.filter { kind, _ in !isClockSet && (kind == .renewal ? isRenewalOnDisk : isPollOnDisk) }
    }

    /// Everything that was received before a sign-out is over.
    mutating func signsOut(_ world: Simulation) {
        for number in world.calls.keys { world.calls[number]?.isOvertaken = true }
        (granted, grantedTo, renewed, window, open) = (nil, nil, nil, nil, nil)
        (isEnding, mayEnd) = (false, false)
        era += 1
        signOuts += 1
    }
}
