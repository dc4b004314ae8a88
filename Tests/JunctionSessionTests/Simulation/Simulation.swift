import JunctionTesting

@testable import JunctionSession

/// One random history of one installation: callers, apps, a provider, a disk and both clocks, with crashes at any await.
///
/// It plays the owner's part in the plainest way. The world has an agenda: a request takes time to arrive, an answer to
/// come back, a write to end, an app to answer; between two points of the agenda the machine's own alarm rings. Everything
/// is drawn from one seed, so a history that breaks can be run again.
struct Simulation {
    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    /// Something that the world will do.
    enum Coming {
        case arrival(Attempt)
        case answer(Attempt, Answer)
        case timeout(Attempt)
        case writeEnds(WriteTicket)
        case handlerAnswers(HandlerID, RenewalQuestion)
        case appAnswers(RequestID)
        case revocationEnds(RevocationID)
        case personDecides(Int)
        case userinfoAnswers(Attempt)
        case enrolmentIsDue
        case enrolmentAnswered(Refusal?)
    }

    enum Answer {
        case codes(SimulatedProvider.Codes)
        case undecided(PollFailure)
        case verdict(SimulatedProvider.Verdict)
        /// A renewal spent its refresh token, and brought the next one without an access token that can be used.
        case successor(SimulatedProvider.Tokens)
        /// A transient failure: whether the provider may have acted, and how long it wants to be left alone.
        case unavailable(isAmbiguous: Bool, retryAfter: Duration?)
        /// A gateway before the provider says no, and not why.
        case unexplained
        case answerRefused
        case refused
    }

    /// What the provider and the way to it are like for a while.
    enum Weather: CaseIterable {
        case fine, flaky, busy, unreachable, lossy, slow
        /// A gateway has lost the provider's servers, and answers every request with an empty 400.
        case gateway
    }

    /// A call that has left for the provider.
    struct Call {
        var kind: Kind
        var isRenewal: Bool { kind == .renewal }
        var user: String
        var expected: String?
        var refresh: Int?
        var access: Int?
        var given: Secret?
        var sentAt: Int64
        var start: Moment

        enum Kind: Hashable {
            case exchange, renewal
            /// It asks for codes.
            case authorization
            case poll(Int)
        }
    }

    /// What a name on the shelf stands for.
    struct Secret: Equatable {
        var owner: String
        var refresh: Int?
        var access: Int?
        var isGood = true
        /// The code of a sign-in that awaits approval.
        var code: Int?
        /// What was granted for a sign-in whose user has yet to be told.
        var granted: SimulatedProvider.Tokens?
    }

    struct Disk {
        var record: SessionRecord
        var secret: Secret?
        var codes: Secret?
        var partialGrants: [Secret] = []
    }

    struct Write {
        var ticket: WriteTicket
        var record: SessionRecord
        var secret: Secret?
        var codes: Secret?
        var partialGrants: [Secret] = []
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

    var random: Randomness
    var machine: SessionMachine
    var provider: SimulatedProvider
    var coverage = Coverage()
    let mode: RenewalMode
    let scheme: Scheme
    /// A sign-out can be proved for a day, however short the life of an access token is.
    let provesForLong: Bool

    // The world's time, and how both clocks read it.
    var time: Int64 = 1_000_000_000
    var bootedAt: Int64 = 0
    var wallOffset: Int64 = 1_795_219_200_000
    var agenda: [(at: Int64, order: Int, coming: Coming)] = []
    private var lastOrder = 0
    var weather = Weather.fine
    /// The wall clock was last set, or the machine last slept or died, in these spans of time.
    var lastStep: Int64 = .min
    var interruptions: [ClosedRange<Int64>] = []

    // What survives a crash.
    var disk: Disk?
    var diskIsFull = false
    var diskIsSlow = false
    /// A generation was served that the disk did not have when the process died: what was promised is lost, as it said.
    var hasLostMemory = false
    /// Refresh tokens whose session was being ended or signed out when the process died: its answer was thrown away on purpose,
    /// and nobody was told yet whether the sign-out holds.
    var givenUp: Set<Int> = []

    // What does not.
    var shelf: [SecretRef: Secret] = [:]
    var calls: [Attempt: Call] = [:]
    /// Sign-ins whose tokens were granted, and whose user is being asked for.
    var unnamed: [Attempt: (call: Call, tokens: SimulatedProvider.Tokens)] = [:]
    var write: Write?
    var waiting: Set<RequestID> = []
    var wanted: [RequestID: String] = [:]
    var registered: [HandlerID] = []
    var quietUntil: Int64?
    /// When a refresh token was refused without a reason, replays left out.
    var unexplained: [Int: [Int64]] = [:]
    /// When the first question of a round was asked, and which local users were asked in it.
    var rounds: [Attempt: (began: Int64, users: Set<UInt32>)] = [:]
    var window: Window?
    /// When replays were sent.
    var replayTimes: [Int64] = []
    var telling: RevocationID?
    /// When a code was polled with last, in this life of the process.
    var polled: [Int: Int64] = [:]
    /// Whom the service manager's credential is for, as long as it is tried, and its sign-in.
    var enrolling: String?
    var enrolRequest: RequestID?
    var enrolRetry = Retry()
    /// Nothing can be sealed or written for as long as this process lives.
    var keepsNothing = false
    var signOuts: Set<RequestID> = []
    /// What the disk had when this process began.
    var restoredGeneration: UInt64 = 0
    var hasAsked = false
    /// Until when no caller of `session.renew` may cause a further attempt.
    var renewBarredUntil: Int64 = .min
    /// When each local user last asked for anything.
    var callers: [UInt32: Int64] = [:]
    var restarts = 0

    // What is remembered to judge by.
    /// Sign-ins whose caller has lost the right, the requests to the provider that had left for them, the codes of approvals
    /// likewise, and the logins that were granted for them all the same.
    var withdrawn: Set<RequestID> = []
    var withdrawnAttempts: Set<Attempt> = []
    var withdrawnCodes: Set<Int> = []
    var unwanted: Set<Int> = []
    /// Until when the provider wants no request of a kind, and when it last said so.
    var demanded: [Call.Kind: Int64] = [:]
    var demandedAt: Int64 = .min
    /// The latest login that each user was granted, as far as the machine heard of it.
    var logins: [String: Int] = [:]
    /// The logins of whose end the provider was told, or has told us.
    var ended: Set<Int> = []
    /// A sign-out was never heard of: the proof of it has ended, or too many waited.
    var hasGivenUp = false
    /// Refresh tokens that were granted before their user was known, and that nobody has given back or signed in with.
    var unnamedTokens: Set<Int> = []
    var sends: [Int64] = []
    var sendsOfToken: [Int: [Int64]] = [:]
    /// Refresh tokens whose successor this process holds.
    var succeeded: Set<Int> = []
    /// When it was noticed that the outcome of a request with a token is unknown.
    var noticed: [Int: [Int64]] = [:]
    /// When an access token came, and in which life of the process.
    var obtained: [Int: (at: Int64, restarts: Int)] = [:]
    private var judged = 0
    private var lastRequest: UInt64 = 0
    private var lastSecret: UInt64 = 0
    var lastHandler: UInt64 = 0
    var isHealed = false
    /// What happened, line by line, for whoever runs a broken history again (`JUNCTION_TRACE`).
    var trace: [String]?

    static let users = ["alice", "bob"]

    init(seed: UInt64) {
        random = Randomness(seed: seed)
        mode = seed % 3 == 0 ? .handler : .automatic
        scheme = seed % 6 == 3 ? .userLogin : .signInToken
        provesForLong = seed % 2 == 0
        let draw = random.next()
        provider = SimulatedProvider(grace: SimulatedProvider.Grace.allCases[Int(draw % 4)])
        machine = Self.machine(seed: seed ^ 0xABCD, mode, provesForLong: provesForLong)
    }

    static func machine(seed: UInt64, _ mode: RenewalMode, provesForLong: Bool) -> SessionMachine {
        let schemes = FakeProvider.allSchemes.mapValues { traits in
            var traits = traits
            traits.proofOutlivesToken = traits.proofOutlivesToken || provesForLong
            return traits
        }
        var machine = SessionMachine(
            provider: "junction",
            schemes: schemes,
            sealedWith: "file",
            seed: seed,
            mode: mode
        )
        // No order inside a phase of a step matters: each history has its own.
        var random = Randomness(seed: seed)
        machine.ends.shuffle(using: &random)
        machine.begins.shuffle(using: &random)
        return machine
    }

    var now: Moment {
        Moment(wall: WallTime(milliseconds: time + wallOffset), uptime: Uptime(milliseconds: time - bootedAt))
    }

    /// How the clocks read that time now.
    func moment(_ past: Int64) -> Moment {
        Moment(wall: now.wall + .milliseconds(past - time), uptime: now.uptime + .milliseconds(past - time))
    }

    /// Runs the history; throws what broke.
    mutating func run(steps: Int, isTraced: Bool = false) throws(Broken) -> Coverage {
        if isTraced { trace = ["\(mode) \(scheme) \(provider.grace)"] }
        if chance(2) == 0 { storeSession() }
        try start()
        if chance(4) == 0 { try enrol() }
        for _ in 0..<steps {
            try runWorld(until: time + gap())
            try stimulate()
            try check()
        }
        try heal()
        return coverage
    }

    /// From nothing to hours, as often short as long.
    private mutating func gap() -> Int64 {
        let longest: [Int64] = [0, 50, 400, 2_000, 8_000, 15_000, 40_000, 400_000, 2_000_000, 9_000_000]
        // A full disk is tried again once a minute, for ever: hours of it teach nothing.
        let count = diskIsFull ? longest.count - 2 : longest.count
        return Int64(chance(Int(longest[chance(count)]) + 1))
    }

    // MARK: The agenda

    mutating func plan(_ coming: Coming, after delay: Int64) {
        lastOrder += 1
        agenda.append((time + max(delay, 0), lastOrder, coming))
    }

    /// Lets the world go on until then: whatever is on the agenda happens, and the alarm rings when it is due.
    mutating func runWorld(until end: Int64) throws(Broken) {
        var steps = 0
        while true {
            let next = agenda.indices.min { (agenda[$0].at, agenda[$0].order) < (agenda[$1].at, agenda[$1].order) }
            let alarm = alarmTime()
            let due = min(next.map { agenda[$0].at } ?? .max, alarm ?? .max)
            guard due <= end else { break }
            steps += 1
            if steps > 20_000 { throw Broken(description: "a hot loop") }
            try pass(to: due)
            if let next, agenda[next].at <= (alarm ?? .max) {
                try happen(agenda.remove(at: next).coming)
            } else {
                try perform(machine.alarmRang(now: now))
                // Invariant 5: whatever was due has begun.
                if let alarm = machine.nextAlarm(now: now), alarm <= now.wall {
                    throw Broken(description: "an alarm rings again at once: a hot loop (\(machine.renewal.phase))")
                }
            }
            try check()
        }
        try pass(to: end)
    }

    /// When the alarm rings, in the world's time.
    private func alarmTime() -> Int64? {
        guard let alarm = machine.nextAlarm(now: now) else { return nil }
        return time + max(alarm.milliseconds - now.wall.milliseconds, 0)
    }

    private mutating func happen(_ coming: Coming) throws(Broken) {
        trace?.append("\(time): \(coming)")
        switch coming {
        case .arrival(let attempt): arrive(attempt)
        case .answer(let attempt, let answer): try deliver(answer, to: attempt)
        case .timeout(let attempt): try deliver(.unavailable(isAmbiguous: true, retryAfter: nil), to: attempt)
        case .writeEnds(let ticket): try endWrite(ticket)
        case .userinfoAnswers(let attempt): try answerUserinfo(attempt)
        case .handlerAnswers(let handler, let question): try answerAsHandler(handler, question)
        case .appAnswers(let request): try answerAsApp(request)
        case .revocationEnds(let revocation): try endRevocation(revocation)
        case .personDecides(let code): provider.decide(code, by: chance(5) == 0 ? nil : Self.users[chance(2)])
        case .enrolmentIsDue: try tryEnrolment()
        case .enrolmentAnswered(let refusal): try endEnrolmentTry(refusal)
        }
    }

    // MARK: Names

    mutating func put(_ secret: Secret) -> SecretRef {
        lastSecret += 1
        let ref = SecretRef(number: lastSecret)
        shelf[ref] = secret
        return ref
    }

    mutating func newRequest() -> RequestID {
        lastRequest += 1
        let id = RequestID(number: lastRequest)
        waiting.insert(id)
        return id
    }

    mutating func chance(_ count: Int) -> Int {
        Int(random.next() % UInt64(max(count, 1)))
    }

    /// The losses of which nobody has judged yet whether they could have been avoided.
    mutating func newLosses() -> ArraySlice<SimulatedProvider.Loss> {
        defer { judged = provider.losses.count }
        return provider.losses[judged...]
    }
}

extension Identity {
    /// A user of the simulation, and the name that the simulation knows them by.
    var name: String { userId }
}
