import JunctionSession
import JunctionTesting

/// One random history of one installation: the real owner with callers, apps, a provider, a disk and both clocks.
///
/// The simulation has an agenda: a request takes time to arrive, an answer to return, a write to end, an app to answer.
/// Between two entries of the agenda the owner's alarm may ring. Everything happens on the test's thread, and all
/// random numbers come from one seed, so a failed history can be repeated.
final class Simulation: @unchecked Sendable {
    struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    /// An entry of the agenda.
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
        case machineDies
    }

    /// The behaviour of the provider and the network for a while.
    enum Weather: CaseIterable {
        case fine, flaky, busy, unreachable, lossy, slow
        /// A gateway has lost the provider's servers, and answers every request with an empty 400.
        case gateway
    }

    /// The distribution of the events from outside.
    enum Pace {
        /// Trouble in every hour, so that short histories meet every situation.
        case dense
        /// Trouble in the proportions of a real device: some events a day.
        case ordinary
    }

    let executor = ManualExecutor()
    private let seed: UInt64
    let pace: Pace
    var random: Randomness
    let mode: RenewalMode
    let scheme: Scheme
    /// Whether a sign-out can be authenticated for a day, independent of the access token's lifetime.
    let provesForLong: Bool
    let schemes: [Scheme: SchemeTraits]
    /// The number of local users, and the number of provider calls that each may cause in a minute.
    let callers: Int
    let callsPerMinute: Int
    var provider: SimulatedProvider
    var coverage = Coverage()

    // MARK: The simulated time, and its reading on both clocks
    var time: Int64 = 1_000_000_000
    var bootedAt: Int64 = 0
    var wallOffset: Int64 = 1_795_219_200_000
    private var agenda: [(at: Int64, coming: Coming)] = []
    var weather = Weather.fine
    /// The last step of the wall clock, and the spans in which the machine slept or the process died.
    var lastStep: Int64 = .min
    var interruptions: [ClosedRange<Int64>] = []

    // MARK: State that survives a kill
    var disk: Disk?
    var diskIsFull = false
    var diskIsSlow = false

    // MARK: State that does not
    var life: ProcessLife!
    var calls: [Int: Call] = [:]
    var pendingWrite: PendingWrite?
    var waiting: [Int: Waiter] = [:]
    var handlers: [Int: Handler] = [:]
    /// The user of the bootstrap credential while it is tried, and the retry state of its attempts.
    var bootstrapUser: String?
    var bootstrapRetry = Retry()
    /// Whether this process can neither seal nor write.
    var keepsNothing = false
    /// The generation of the last sign-out on the disk, which has erased the quarantine.
    var lastSignOut: UInt64?

    /// The expected state.
    var model = Model()
    var issued: [IssuedSecret] = []
    var lastNumber = 0
    var restarts = 0
    var isHealed = false
    var isQuietNoticed = false
    private(set) var broken: Broken?
    /// The log of the history, line by line, for a repetition with `JUNCTION_TRACE`.
    var trace: [String]?

    static let users = ["alice", "bob"]

    init(seed: UInt64, pace: Pace = .dense) {
        (self.seed, self.pace) = (seed, pace)
        random = Randomness(seed: seed)
        mode = seed % 3 == 0 ? .handler : .automatic
        scheme = seed % 6 == 3 ? .userLogin : .signInToken
        let provesForLong = seed % 2 == 0
        self.provesForLong = provesForLong
        var schemes = FakeProvider.allSchemes.mapValues { traits in
            var traits = traits
            traits.isRevocableAfterExpiry = traits.isRevocableAfterExpiry || provesForLong
            return traits
        }
        schemes[.userLogin]?.mayBeForgotten = true
        self.schemes = schemes
        (callers, callsPerMinute) = seed % 5 == 1 ? (3, 3) : (1_000, 60)
        provider = SimulatedProvider(grace: SimulatedProvider.Grace.allCases[Int(random.next() % 4)])
    }

    /// Runs these steps of the history, and its end. Throws the first violation.
    ///
    /// The random numbers of a step depend only on the seed and the number of the step, so a step stays the same when
    /// another one is left out.
    func run(steps: [Int], isTraced: Bool = false) throws(Broken) -> Coverage {
        if isTraced { trace = ["\(mode) \(scheme) \(provider.grace)"] }
        let began = time
        if chance(2) == 0 { storeSession() }
        start()
        if chance(4) == 0 { bootstrap() }
        for step in steps {
            log("step \(step)")
            reseed(2 * step + 1)
            try runWorld(until: time + gap())
            reseed(2 * step + 2)
            stimulate()
            judgeSecrets()
            judgeMemory()
            try stop()
        }
        reseed(-1)
        try heal()
        try judgeForgetting()
        endLife()
        coverage.simulated = .milliseconds(time - began)
        return coverage
    }

    private func reseed(_ position: Int) {
        var mixed = Randomness(seed: UInt64(bitPattern: Int64(position)))
        random = Randomness(seed: seed ^ mixed.next())
    }

    /// Records a violation. Only the first one counts.
    func fail(_ description: @autoclosure () -> String) {
        if broken == nil { broken = Broken(description: description()) }
    }

    /// Runs the checks, and throws the first violation.
    func stop() throws(Broken) {
        check()
        if let broken { throw broken }
    }

    /// Returns a random pause before the next event from outside.
    private func gap() -> Int64 {
        switch pace {
        case .dense:
            // From zero to hours. Each length class has the same probability.
            let longest: [Int64] = [0, 50, 400, 2_000, 8_000, 15_000, 40_000, 400_000, 2_000_000, 9_000_000]
            // On a full disk the owner retries once a minute, so hours of it show nothing new.
            let count = diskIsFull ? longest.count - 2 : longest.count
            return Int64(chance(Int(longest[chance(count)]) + 1))
        case .ordinary:
            // Trouble ends within two hours. Between two events six hours pass on average.
            return Int64(chance(isTroubled ? 7_200_000 : 43_200_000))
        }
    }

    /// Whether an outage or a broken disk lasts.
    var isTroubled: Bool { weather != .fine || diskIsFull || diskIsSlow }

    /// Returns the life of a token that the provider grants.
    func tokenLife() -> Int64 {
        let lives: [Int64] = pace == .dense ? [20, 60, 600, 3_600, 86_400] : [3_600, 86_400, 86_400, 86_400]
        return lives[chance(lives.count)] * 1_000
    }

    // MARK: Time

    var now: Moment {
        Moment(wall: WallTime(milliseconds: time + wallOffset), uptime: Uptime(milliseconds: time - bootedAt))
    }

    /// Returns the reading of both clocks at that time, with the present clock setting.
    func moment(_ past: Int64) -> Moment {
        Moment(wall: now.wall + .milliseconds(past - time), uptime: now.uptime + .milliseconds(past - time))
    }

    /// The time of the alarm, in simulated time.
    var alarmTime: Int64? { life.alarm.map { max($0.milliseconds - wallOffset, time) } }

    func plan(_ coming: Coming, after delay: Int64) {
        let at = time + max(delay, 0)
        let index = agenda.firstIndex { $0.at > at } ?? agenda.endIndex
        agenda.insert((at, coming), at: index)
    }

    var isIdle: Bool { agenda.isEmpty }

    func clearAgenda() { agenda = [] }

    /// Runs the agenda and the alarm up to this time.
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
                // Every due action has begun.
                if let alarm = life.alarm, alarm <= now.wall { fail("an alarm rings again at once: a hot loop") }
            }
            try stop()
        }
        pass(to: end)
    }

    /// Advances time. An alarm that rings before its time must show nothing new and send nothing.
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
        case .machineDies:
            // A handler that has registered for the end of the history would not register again.
            if !isHealed { kill() }
        }
    }

    // MARK: The owner

    /// Runs `body` on the owner, and then all work that it causes.
    func on(_ body: (isolated SessionOwner) -> Void) {
        life.owner.assumeIsolated(body)
        executor.runUntilIdle()
    }

    var snapshot: Snapshot { life.owner.assumeIsolated { $0.snapshot } }

    // MARK: Random numbers and names

    func chance(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }

    /// Returns a number that is used only once.
    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    func log(_ line: @autoclosure () -> String) {
        if trace != nil { trace?.append("\(time): \(line())") }
    }
}
