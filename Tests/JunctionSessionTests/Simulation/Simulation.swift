import JunctionSession
import JunctionTesting

/// One random history of one installation: the real owner, and around it callers, apps, a provider, a disk and both clocks.
///
/// The world has an agenda: a request takes time to arrive, an answer to come back, a write to end, an app to answer. Between two
/// points of the agenda the owner's alarm rings. Everything happens on the test's thread, and every draw comes from one seed,
/// so a history that breaks can be run again.
final class Simulation: @unchecked Sendable {
    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    /// Something that the world will do.
    enum Coming {
        case arrival(Int)
        case answer(Int, Answer)
        case userinfoAnswers(Int)
        case apiAnswers(Int)
        case revocationEnds(Int)
        case writeEnds
        case rightIsWithdrawn
        case handlerAnswers(Int, RenewalQuestion)
        case appAnswers(RequestID, waiter: Int)
        case personDecides(Int)
        case bootstrapIsDue
        case bootstrapAnswered(SessionError?)
    }

    /// What the provider and the way to it are like for a while.
    enum Weather: CaseIterable {
        case fine, flaky, busy, unreachable, lossy, slow
        /// A gateway has lost the provider's servers, and answers every request with an empty 400.
        case gateway
    }

    let executor = ManualExecutor()
    var random: Randomness
    let mode: RenewalMode
    let scheme: Scheme
    /// A sign-out can be proved for a day, however short the life of an access token is.
    let provesForLong: Bool
    let schemes: [Scheme: SchemeTraits]
    /// How many users call, and how many calls to the provider one of them may cause in a minute.
    let callers: Int
    let callsPerMinute: Int
    var provider: SimulatedProvider
    var coverage = Coverage()

    // The world's time, and how both clocks read it.
    var time: Int64 = 1_000_000_000
    var bootedAt: Int64 = 0
    var wallOffset: Int64 = 1_795_219_200_000
    private var agenda: [(at: Int64, coming: Coming)] = []
    var weather = Weather.fine
    /// The wall clock was last set, or the machine last slept or died, in these spans of time.
    var lastStep: Int64 = .min
    var interruptions: [ClosedRange<Int64>] = []

    // What survives a kill.
    var disk: Disk?
    var diskIsFull = false
    var diskIsSlow = false

    // What does not.
    var life: ProcessLife!
    var calls: [Int: Call] = [:]
    var pendingWrite: PendingWrite?
    var waiting: [Int: Waiter] = [:]
    var handlers: [Int: Handler] = [:]
    /// Whom the bootstrap credential is for, for as long as it is tried, and what its attempts have come to.
    var bootstrapUser: String?
    var bootstrapRetry = Retry()
    /// Nothing can be sealed or written for as long as this process lives.
    var keepsNothing = false

    /// What the judge knows.
    var books = Books()
    var issued: [IssuedSecret] = []
    var lastNumber = 0
    var restarts = 0
    var isHealed = false
    var isQuietNoticed = false
    private(set) var broken: Broken?
    /// What happened, line by line, for whoever runs a broken history again (`JUNCTION_TRACE`).
    var trace: [String]?

    static let users = ["alice", "bob"]

    init(seed: UInt64) {
        random = Randomness(seed: seed)
        mode = seed % 3 == 0 ? .handler : .automatic
        scheme = seed % 6 == 3 ? .userLogin : .signInToken
        let provesForLong = seed % 2 == 0
        self.provesForLong = provesForLong
        var schemes = FakeProvider.allSchemes.mapValues { traits in
            var traits = traits
            traits.proofOutlivesToken = traits.proofOutlivesToken || provesForLong
            return traits
        }
        schemes[.userLogin]?.mayBeForgotten = true
        self.schemes = schemes
        (callers, callsPerMinute) = seed % 5 == 1 ? (3, 3) : (1_000, 60)
        provider = SimulatedProvider(grace: SimulatedProvider.Grace.allCases[Int(random.next() % 4)])
    }

    /// Runs the history; throws what broke.
    func run(steps: Int, isTraced: Bool = false) throws(Broken) -> Coverage {
        if isTraced { trace = ["\(mode) \(scheme) \(provider.grace)"] }
        if chance(2) == 0 { storeSession() }
        start()
        if chance(4) == 0 { bootstrap() }
        for _ in 0..<steps {
            try runWorld(until: time + gap())
            stimulate()
            judgeSecrets()
            judgeMemory()
            try stop()
        }
        try heal()
        try judgeForgetting()
        endLife()
        return coverage
    }

    /// Notes that something broke. The first one counts.
    func fail(_ description: @autoclosure () -> String) {
        if broken == nil { broken = Broken(description: description()) }
    }

    /// Judges, and stops at what broke.
    func stop() throws(Broken) {
        check()
        if let broken { throw broken }
    }

    /// From nothing to hours, as often short as long.
    private func gap() -> Int64 {
        let longest: [Int64] = [0, 50, 400, 2_000, 8_000, 15_000, 40_000, 400_000, 2_000_000, 9_000_000]
        // A full disk is tried again once a minute, for ever: hours of it teach nothing.
        let count = diskIsFull ? longest.count - 2 : longest.count
        return Int64(chance(Int(longest[chance(count)]) + 1))
    }

    // MARK: Time

    var now: Moment {
        Moment(wall: WallTime(milliseconds: time + wallOffset), uptime: Uptime(milliseconds: time - bootedAt))
    }

    /// How the clocks read that time now.
    func moment(_ past: Int64) -> Moment {
        Moment(wall: now.wall + .milliseconds(past - time), uptime: now.uptime + .milliseconds(past - time))
    }

    /// When the alarm rings, in the world's time.
    var alarmTime: Int64? { life.alarm.map { max($0.milliseconds - wallOffset, time) } }

    func plan(_ coming: Coming, after delay: Int64) {
        let at = time + max(delay, 0)
        let index = agenda.firstIndex { $0.at > at } ?? agenda.endIndex
        agenda.insert((at, coming), at: index)
    }

    var isIdle: Bool { agenda.isEmpty }

    func clearAgenda() { agenda = [] }

    /// Lets the world go on until then: whatever is on the agenda happens, and the alarm rings when it is due.
    func runWorld(until end: Int64) throws(Broken) {
        var steps = 0
        while true {
            let alarm = alarmTime
            let due = min(agenda.first?.at ?? .max, alarm ?? .max)
            guard due <= end else { break }
            steps += 1
            if steps > 20_000 { fail("a hot loop") }
            pass(to: due)
            if let next = agenda.first, next.at <= alarm ?? .max {
                happen(agenda.removeFirst().coming)
            } else {
                log("the alarm rings")
                on { $0.alarmRang(clockJumped: false) }
                // Whatever was due has begun.
                if let alarm = life.alarm, alarm <= now.wall { fail("an alarm rings again at once: a hot loop") }
            }
            try stop()
        }
        pass(to: end)
    }

    /// Time alone changes nothing: an alarm that rings before its time shows nothing new, and sends nothing.
    private func pass(to end: Int64) {
        guard end > time else { return }
        if end > time + 1, chance(5) == 0 {
            time = end - 1
            let (before, sent) = (snapshot, lastNumber)
            on { $0.alarmRang(clockJumped: false) }
            if snapshot != before { fail("time alone has changed \(before.facts) to \(snapshot.facts)") }
            if lastNumber != sent { fail("time alone has sent something") }
        }
        time = end
    }

    private func happen(_ coming: Coming) {
        log("\(coming)")
        switch coming {
        case .arrival(let call): arrive(call)
        case .answer(let call, let answer): deliver(answer, to: call)
        case .userinfoAnswers(let call): answerUserinfo(call)
        case .apiAnswers(let call): answerApiCall(call)
        case .revocationEnds(let call): endRevocation(call)
        case .writeEnds: endWrite()
        case .rightIsWithdrawn: if !isHealed { withdrawRight() }
        case .handlerAnswers(let handler, let question): answerAsHandler(handler, question)
        case .appAnswers(let request, let waiter): answerAsApp(request, waiter)
        case .personDecides(let code): provider.decide(code, by: chance(5) == 0 ? nil : Self.users[chance(2)])
        case .bootstrapIsDue: tryBootstrap()
        case .bootstrapAnswered(let refusal): endBootstrapTry(refusal)
        }
    }

    // MARK: The owner

    /// Runs `body` on the owner, and then everything that follows from it.
    func on(_ body: (isolated SessionOwner) -> Void) {
        life.owner.assumeIsolated(body)
        executor.runUntilIdle()
    }

    var snapshot: Snapshot { life.owner.assumeIsolated { $0.snapshot } }

    // MARK: Chance and names

    func chance(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }

    /// A number that nothing else has.
    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    func log(_ line: @autoclosure () -> String) {
        if trace != nil { trace?.append("\(time): \(line())") }
    }
}
