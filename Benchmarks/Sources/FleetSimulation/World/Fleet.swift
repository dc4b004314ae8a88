import JunctionSession

/// All daemons of a scenario, the provider, and the true time.
///
/// The simulation runs all daemons together, because the provider's answers depend on the load, and the load depends on
/// the answers. This is possible because a machine is a value of two kilobytes that shares its constant parts.
package struct Fleet<Daemon: FleetDaemon> {
    private let scenario: Scenario
    private var daemons: ContiguousArray<Daemon> = []
    private var places: ContiguousArray<Place>
    private var eventQueue: EventQueue
    private var provider: Provider
    private var tally: Tally
    private var random: Randomness
    private let seed: UInt64

    /// The simulation's record of one daemon.
    private struct Place {
        var bootedAt: Milliseconds = -3_600_000
        var clockError: Milliseconds = 0
        /// The time of the current alarm. An event with another time belongs to a replaced alarm.
        var alarm = Milliseconds.max
        var answer = Milliseconds.max
        var ask = Milliseconds.max
        var sentAt: Milliseconds = 0
        /// The true expiry of its token.
        var tokenEnds = Milliseconds.min
        /// Since when it runs without a valid token.
        var tokenlessSince = Milliseconds.max
        var retryAfter: Duration?
        var outcome = Provider.Outcome.refused
    }

    package init(of count: Int, in scenario: Scenario, seed: UInt64) {
        self.scenario = scenario
        self.seed = seed
        random = Randomness(seed: seed)
        places = ContiguousArray(repeating: Place(), count: count)
        eventQueue = EventQueue(until: scenario.length)
        provider = Provider(daemons: count)
        tally = Tally(of: count, in: scenario)
    }

    /// Runs the scenario from its start to its end.
    package mutating func run() -> Figures {
        begin()
        while let entry = eventQueue.next() {
            tally.pass(to: entry.at)
            happen(entry)
        }
        for place in places where place.tokenlessSince < scenario.length { tally.tokenless(from: place.tokenlessSince) }
        return tally.figures()
    }

    // MARK: Start

    private mutating func begin() {
        daemons.reserveCapacity(places.count)
        for daemon in places.indices {
            daemons.append(Daemon(seed: seedOf(daemon, life: 0)))
            switch scenario.start {
            case .signedOut(let span):
                happen(daemon, at: 0) { $0.begin(with: nil, $1) }
                eventQueue.add(.signIn, of: daemon, at: draw(0...(span - 1)))
            case .granted(let span):
                let share = Daemon.renewalShare(using: &random)
                begin(daemon, with: StoredToken(age: draw(0...span), renewalShare: share))
            case .steady:
                let share = steadyShare()
                let age = Milliseconds(Double(Scenario.life.wholeMilliseconds) * share * random.uniform(in: 0...1))
                begin(daemon, with: StoredToken(age: age, renewalShare: share))
            }
            if let reboot = scenario.reboot, Scenario.isIn(reboot.share, daemon) {
                eventQueue.add(.powerOff, of: daemon, at: reboot.at)
            }
            for spell in scenario.spells where scenario.isNetworkTold {
                guard case .cutOff(let share) = spell.kind, Scenario.isIn(share, daemon) else { continue }
                eventQueue.add(.networkBack, of: daemon, at: spell.until)
            }
        }
    }

    private mutating func begin(_ daemon: Int, with token: StoredToken) {
        places[daemon].tokenEnds = Scenario.life.wholeMilliseconds - token.age
        happen(daemon, at: 0) { $0.begin(with: token, $1) }
    }

    /// A long interval contains a random moment more often than a short one.
    private mutating func steadyShare() -> Double {
        while true {
            let share = Daemon.renewalShare(using: &random)
            if random.uniform(in: 0...1) < share { return share }
        }
    }

    private func seedOf(_ daemon: Int, life: UInt64) -> UInt64 {
        var mixed = Randomness(seed: seed ^ UInt64(daemon) << 8 ^ life)
        return mixed.next()
    }

    // MARK: Events

    private mutating func happen(_ entry: EventQueue.Entry) {
        let (daemon, time) = (entry.daemon, entry.at)
        switch entry.kind {
        case .alarm:
            guard places[daemon].alarm == time else { return }
            places[daemon].alarm = .max
            happen(daemon, at: time) { $0.alarmRang($1) }
        case .answer:
            guard places[daemon].answer == time else { return }
            answer(daemon, at: time)
        case .appAsks:
            guard places[daemon].ask == time else { return }
            places[daemon].ask = .max
            happen(daemon, at: time) { $0.appAsked($1) }
        case .signIn:
            happen(daemon, at: time) { $0.signIn($1) }
        case .powerOff:
            powerOff(daemon, at: time)
        case .boot:
            boot(daemon, at: time)
        case .clockSet:
            places[daemon].clockError = 0
            happen(daemon, at: time) { $0.clockJumped($1) }
        case .networkBack:
            happen(daemon, at: time) { $0.networkChanged($1) }
        }
    }

    /// Applies one event to one daemon, and its consequences.
    private mutating func happen(_ daemon: Int, at time: Milliseconds, _ event: (inout Daemon, Moment) -> Bool) {
        let now = moment(of: daemon, at: time)
        let after = Self.tell(&daemons[daemon], now, event)
        if after.leaves { send(from: daemon, at: time) }
        noteToken(of: daemon, at: time, isServed: after.isServed)
        arm(daemon, for: after.alarm.map { time + max(($0 - now.wall).wholeMilliseconds, 1) } ?? .max)
    }

    /// Does everything for a daemon at one moment in place, so that its value is not copied.
    private static func tell(
        _ daemon: inout Daemon,
        _ now: Moment,
        _ event: (inout Daemon, Moment) -> Bool
    ) -> (leaves: Bool, isServed: Bool, alarm: WallTime?) {
        let leaves = event(&daemon, now)
        return (leaves, daemon.servesToken(now), daemon.nextAlarm(now))
    }

    private func moment(of daemon: Int, at time: Milliseconds) -> Moment {
        let place = places[daemon]
        return Moment(
            wall: StoredToken.beginning + .milliseconds(time + place.clockError),
            uptime: Uptime(milliseconds: time - place.bootedAt)
        )
    }

    private mutating func arm(_ daemon: Int, for wanted: Milliseconds) {
        guard wanted != places[daemon].alarm else { return }
        places[daemon].alarm = wanted
        if wanted != .max { eventQueue.add(.alarm, of: daemon, at: wanted) }
    }

    // MARK: Requests

    private mutating func send(from daemon: Int, at time: Milliseconds) {
        var answer = provider.answer(from: daemon, at: time, in: scenario.weather(at: time), using: &random)
        if answer.after > Provider.patience { (answer.outcome, answer.after) = (.unknown, Provider.patience) }
        if answer.hasArrived { tally.request(at: time, brings: answer.outcome == .granted) }
        places[daemon].sentAt = time
        places[daemon].outcome = answer.outcome
        places[daemon].retryAfter = answer.retryAfter
        places[daemon].answer = time + answer.after
        eventQueue.add(.answer, of: daemon, at: time + answer.after)
    }

    private mutating func answer(_ daemon: Int, at time: Milliseconds) {
        let place = places[daemon]
        places[daemon].answer = .max
        switch place.outcome {
        case .granted:
            let start = Uptime(milliseconds: place.sentAt - place.bootedAt)
            places[daemon].tokenEnds = place.sentAt + Scenario.life.wholeMilliseconds
            happen(daemon, at: time) { $0.granted(Life(start: start, end: start + Scenario.life), $1) }
        case .refused, .unknown:
            let words = place.retryAfter == nil ? "no answer" : "too many requests"
            let why = Unavailability(words, retryAfter: place.retryAfter, ambiguous: place.outcome == .unknown)
            happen(daemon, at: time) { $0.failed(why, $1) }
            // A user retries a failed sign-in.
            if place.tokenEnds == .min { eventQueue.add(.signIn, of: daemon, at: time + draw(5_000...15_000)) }
        }
    }

    // MARK: Power

    private mutating func powerOff(_ daemon: Int, at time: Milliseconds) {
        guard let reboot = scenario.reboot else { return }
        if places[daemon].tokenlessSince != .max { tally.tokenless(from: places[daemon].tokenlessSince, to: time) }
        (places[daemon].alarm, places[daemon].answer, places[daemon].ask) = (.max, .max, .max)
        places[daemon].tokenlessSince = .max
        eventQueue.add(.boot, of: daemon, at: time + draw(reboot.boots))
    }

    private mutating func boot(_ daemon: Int, at time: Milliseconds) {
        guard let reboot = scenario.reboot else { return }
        places[daemon].bootedAt = time - 10_000
        places[daemon].clockError = reboot.clockError(of: daemon)
        let seed = seedOf(daemon, life: 1)
        happen(daemon, at: time) { $0.reboot(seed: seed, $1) }
        if let span = reboot.clockSetAfter, places[daemon].clockError != 0 {
            eventQueue.add(.clockSet, of: daemon, at: time + draw(span))
        }
    }

    // MARK: Tokens

    private mutating func noteToken(of daemon: Int, at time: Milliseconds, isServed: Bool) {
        let place = places[daemon]
        // A token that was never granted cannot be missing.
        guard place.tokenEnds != .min else { return }
        if isServed, time < place.tokenEnds {
            guard place.tokenlessSince != .max else { return }
            tally.tokenless(from: place.tokenlessSince, to: time)
            (places[daemon].tokenlessSince, places[daemon].ask) = (.max, .max)
            return
        }
        if place.tokenlessSince == .max {
            // The daemon serves an expired token and does not know it: the token is missing since its expiry.
            let since = isServed ? max(place.tokenEnds, place.bootedAt, 0) : time
            places[daemon].tokenlessSince = min(since, time)
            tally.lost(at: time)
        }
        if let every = scenario.asksEvery, places[daemon].ask == .max {
            let wait = place.tokenlessSince == .max ? draw(0...every) : every
            places[daemon].ask = time + max(wait, 1)
            eventQueue.add(.appAsks, of: daemon, at: time + max(wait, 1))
        }
    }

    private mutating func draw(_ range: ClosedRange<Milliseconds>) -> Milliseconds {
        let width = Double(range.upperBound - range.lowerBound + 1)
        return min(range.lowerBound + Milliseconds(width * random.uniform(in: 0...1)), range.upperBound)
    }
}
