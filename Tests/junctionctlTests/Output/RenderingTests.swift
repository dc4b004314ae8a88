import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// The texts for users.
struct RenderingTests {
    private let now = Timestamp("2026-11-21T06:20:34Z")!

    private var signedIn: Snapshot {
        Snapshot(
            revision: 17,
            changedAt: now,
            state: .established,
            flags: [.configured, .signedIn, .useSignInToken],
            provider: "junction",
            scheme: "signInToken",
            userId: "user-1",
            externalUserId: "joe",
            environment: "sandbox",
            region: "us",
            accessToken: .init(issuedAt: now, expiresAt: Timestamp("2026-11-21T07:20:34Z")!, generation: 3),
            renewal: .init(phase: .scheduled, notBefore: Timestamp("2026-11-21T07:00:00Z")!),
            storage: .init(sealedWith: "host+tpm2", durable: true, status: .ok)
        )
    }

    private var nobody: Snapshot {
        Snapshot(
            revision: 1,
            changedAt: now,
            state: .notLoggedIn,
            provider: "junction",
            storage: .init(sealedWith: "file", durable: true, status: .ok)
        )
    }

    @Test func `the present time is not before a token of the same second`() {
        let issuedAt = Timestamp.now

        #expect(SnapshotText(nobody).now >= issuedAt)
    }

    @Test func `the text of a signed-in user has all rows`() {
        #expect(
            SnapshotText(signedIn, now: now).paragraph == """
                state     established: signed in
                user      user-1
                known as  joe
                provider  junction, sandbox, us, signInToken
                token     valid until 2026-11-21T07:20:34Z (in 60 min)
                renewal   scheduled, at 2026-11-21T07:00:00Z (in 39 min)
                storage   sealed with host+tpm2
                """
        )
    }

    @Test func `a token without an end is shown as valid without an end`() {
        var endless = signedIn
        endless.accessToken?.expiresAt = .never
        endless.renewal = .init()

        let text = SnapshotText(endless, now: now)

        #expect(text.paragraph.contains("token     valid without an end\nstorage"))
        #expect(text.line.contains(" token-until=never"))
    }

    @Test func `the text without a user has three rows`() {
        #expect(
            SnapshotText(nobody, now: now).paragraph == """
                state     notLoggedIn: not signed in
                provider  junction
                storage   sealed with file
                """
        )
    }

    @Test(arguments: [Snapshot.State.established, .tokenExpired, .notLoggedIn, .establishing])
    func `unreadable storage is in the first row of status`(state: Snapshot.State) {
        var snapshot = signedIn
        (snapshot.state, snapshot.accessToken) = (state, nil)
        snapshot.storage = .init(
            sealedWith: "file",
            durable: true,
            status: .locked,
            readable: false,
            reason: "No\nkey."
        )

        #expect(
            SnapshotText(snapshot, now: now).paragraph.hasPrefix(
                "state     \(state): no token can be had, because the storage is locked. No key.\nuser"
            )
        )
        #expect(ExitStatus(snapshot) == .temporary)
        // A daemon of an earlier release sends neither `readable` nor `reason`.
        snapshot.storage = .init(sealedWith: "file", durable: true, status: .unavailable)
        #expect(SnapshotText(snapshot, now: now).paragraph.contains("unavailable. 'junctionctl doctor' says why."))
        #expect(ExitStatus(snapshot) == .temporary)
    }

    @Test func `the exit code of status depends on the storage and on the sign-in`() {
        var damaged = signedIn
        damaged.storage = .init(sealedWith: "file", durable: true, status: .damaged, readable: true, reason: "Look.")

        #expect(ExitStatus(signedIn) == .done)
        #expect(ExitStatus(damaged) == .done)
        #expect(ExitStatus(nobody) == .notSignedIn)
    }

    @Test func `the text shows an expired token, a failed renewal, a termination and the storage`() {
        var snapshot = signedIn
        snapshot.state = .tokenExpired
        snapshot.flags.append(.pendingReauthentication)
        snapshot.accessToken?.expiresAt = Timestamp(milliseconds: now.milliseconds - 1)
        snapshot.renewal = .init(phase: .backingOff, notBefore: now, failures: 3, lastError: "timeout\nagain")
        snapshot.termination = .init(code: "invalid_token", message: "deleted", at: now)
        snapshot.storage = .init(sealedWith: "file", durable: false, status: .damaged, readable: true, reason: "Look.")

        let lines = SnapshotText(snapshot, now: now).paragraph.split(separator: "\n")

        #expect(
            lines.contains(
                "state     tokenExpired: signed in, but the token is dead until it is renewed; "
                    + "pendingReauthentication: a new credential is required"
            )
        )
        #expect(lines.contains { $0.hasPrefix("token     dead since 2026-11-21T06:20:33.999Z") })
        #expect(
            lines.contains(
                "renewal   backingOff: failed 3 times, next attempt at 2026-11-21T06:20:34Z (now) (timeout again)"
            )
        )
        #expect(lines.contains("ended     2026-11-21T06:20:34Z (now): deleted (invalid_token)"))
        #expect(lines.contains("storage   damaged; not on disk yet"))
    }

    @Test(arguments: [
        Snapshot.State.notLoggedIn, .establishing, .established, .tokenExpired, .terminated,
    ])
    func `status and watch use the same word for a state`(state: Snapshot.State) {
        var snapshot = signedIn
        snapshot.state = state

        #expect(SnapshotText(snapshot, now: now).paragraph.hasPrefix("state     \(state): "))
        #expect(SnapshotText(snapshot).line.contains(" \(state) "))
    }

    @Test(arguments: [Snapshot.Renewal.Phase.scheduled, .inFlight, .waitingForHandler, .postponed, .backingOff])
    func `status and watch use the same word for a renewal phase`(phase: Snapshot.Renewal.Phase) {
        var snapshot = signedIn
        snapshot.renewal = .init(phase: phase, notBefore: now)

        #expect(SnapshotText(snapshot, now: now).paragraph.contains("\nrenewal   \(phase)"))
        #expect(SnapshotText(snapshot).line.contains(" renewal=\(phase)"))
    }

    @Test(arguments: [Snapshot.Storage.Status.locked, .damaged, .unavailable])
    func `status and watch use the same word for a storage status`(status: Snapshot.Storage.Status) {
        var snapshot = signedIn
        snapshot.storage = .init(sealedWith: "file", durable: false, status: status)
        snapshot.flags.append(.pendingReauthentication)

        let text = SnapshotText(snapshot, now: now)
        #expect(text.paragraph.contains("\nstorage   \(status)"))
        #expect(text.paragraph.contains("no token can be had, because the storage is \(status)"))
        #expect(text.line.hasSuffix(" pendingReauthentication storage=\(status) durable=false"))
    }

    @Test func `a renewal that will need a session handler says that none is registered`() {
        var snapshot = signedIn
        snapshot.renewal.needsHandler = true

        #expect(
            SnapshotText(snapshot, now: now).paragraph.contains(
                "\nrenewal   scheduled, at 2026-11-21T07:00:00Z (in 39 min); it needs a session handler, and none is registered\n"
            )
        )
    }

    @Test func `a renewal that waits for a handler names the verb handle-renewals`() {
        var snapshot = signedIn
        snapshot.renewal = .init(phase: .waitingForHandler)

        let lines = SnapshotText(snapshot, now: now).paragraph.split(separator: "\n")

        #expect(
            lines.contains("renewal   waitingForHandler: for a session handler, such as 'junctionctl handle-renewals'")
        )
    }

    @Test func `the line of a state is complete`() {
        #expect(
            SnapshotText(signedIn, now: now).line
                == "2026-11-21T06:20:34Z established user=user-1 token-until=2026-11-21T07:20:34Z (in 60 min) renewal=scheduled"
        )
        #expect(SnapshotText(nobody).line == "2026-11-21T06:20:34Z notLoggedIn")
    }

    @Test(
        arguments: [
            (0, "now"), (999, "now"), (-999, "now"), (1_000, "in 1 s"), (119_999, "in 119 s"), (120_000, "in 2 min"),
            (-7_199_000, "119 min ago"), (7_200_000, "in 2 h"), (172_800_000, "in 2 days"),
            (-172_800_000, "2 days ago"),
        ] as [(Int64, String)]
    )
    func `a distance is in words`(milliseconds: Int64, words: String) {
        let time = Timestamp(milliseconds: now.milliseconds + milliseconds)

        #expect("\(Distance(to: time, from: now))" == words)
    }

    @Test func `the distance to the latest time does not overflow`() {
        #expect("\(Distance(to: .never, from: now))".hasPrefix("in "))
    }

    @Test func `whoami shows the caller, its rights and the deciding entry`() {
        let names = AccountFiles(users: "anna:x:1000:1000::/:/bin/sh\n", groups: "health:x:995:anna\n")
        var caller = CallerDescription(
            user: 1000,
            process: 7,
            unit: "sync.service",
            capabilities: [.init(rawValue: "status"), .init(rawValue: "token")],
            basis: .entry,
            entry: .init(index: 1, unit: "sync.service", group: 995)
        )

        #expect(
            CallerText(caller, names: names).paragraph == """
                user      anna (1000)
                process   7
                unit      sync.service
                may       status, token
                because   access[1] decides, which is about unit sync.service and group health (995)
                """
        )
        (caller.user, caller.unit, caller.capabilities, caller.basis, caller.entry) = (4711, nil, [], .none, nil)
        #expect(CallerText(caller, names: names).paragraph.hasPrefix("user      4711\n"))
        #expect(
            CallerText(caller, names: names).paragraph.contains("\nmay       nothing\nbecause   no [[access]] entry")
        )
        (caller.basis, caller.entry) = (.entry, .init(index: 0))
        #expect(CallerText(caller, names: names).paragraph.hasSuffix("access[0] decides, which is about everybody"))
    }

    @Test(arguments: [
        (WaitCommand.Goal.signedIn, true, false), (.signedOut, false, true), (.fresh, true, false),
    ])
    func `a wait ends when its goal is reached`(goal: WaitCommand.Goal, whenSignedIn: Bool, whenNobody: Bool) {
        #expect(goal.isReached(by: signedIn, at: now) == whenSignedIn)
        #expect(goal.isReached(by: nobody, at: now) == whenNobody)
    }

    @Test func `an expired token is not fresh, and establishing is not signed out`() {
        var dead = signedIn
        dead.state = .tokenExpired
        var starting = nobody
        starting.state = .establishing

        #expect(WaitCommand.Goal.signedIn.isReached(by: dead, at: now))
        #expect(!WaitCommand.Goal.fresh.isReached(by: dead, at: now))
        #expect(!WaitCommand.Goal.fresh.isReached(by: signedIn, at: Timestamp("2026-11-21T07:20:34Z")!))
        #expect(!WaitCommand.Goal.signedOut.isReached(by: starting, at: now))
    }

    @Test(arguments: [Snapshot.Storage.Status.locked, .damaged, .unavailable])
    func `waiting for a fresh token fails if the session cannot be opened`(
        status: Snapshot.Storage.Status
    ) {
        // A locked session has the state of its header, and no token.
        var snapshot = signedIn
        (snapshot.storage.status, snapshot.accessToken) = (status, nil)

        #expect(!WaitCommand.Goal.fresh.isReached(by: snapshot, at: now))
        let obstacle = WaitCommand.Goal.fresh.obstacle(in: snapshot)
        #expect(obstacle?.status == .temporary)
        #expect(obstacle?.line.contains("is \(status)") == true)
        #expect(WaitCommand.Goal.signedIn.obstacle(in: snapshot) == nil)
    }

    @Test func `waiting for a fresh token fails after a termination and not after an expiry`() {
        var snapshot = nobody
        snapshot.state = .terminated
        snapshot.termination = .init(code: "invalid_token", message: "deleted", at: now)

        let obstacle = WaitCommand.Goal.fresh.obstacle(in: snapshot)
        #expect(obstacle?.status == .refused)
        #expect(obstacle?.line.contains("terminated the session: deleted (invalid_token)") == true)
        #expect(WaitCommand.Goal.signedIn.obstacle(in: snapshot) == nil)
        var dead = signedIn
        dead.state = .tokenExpired
        for snapshot in [dead, nobody] { #expect(WaitCommand.Goal.fresh.obstacle(in: snapshot) == nil) }
    }

    @Test func `waiting for a fresh token fails if the token has expired and reauthentication is pending`() {
        var snapshot = signedIn
        snapshot.flags.append(.pendingReauthentication)

        // The daemon still serves a token that has not expired.
        #expect(WaitCommand.Goal.fresh.isReached(by: snapshot, at: now))
        for state in [Snapshot.State.tokenExpired, .established] {
            snapshot.state = state
            let later = Timestamp("2026-11-21T07:20:34Z")!
            #expect(!WaitCommand.Goal.fresh.isReached(by: snapshot, at: later))
            let obstacle = WaitCommand.Goal.fresh.obstacle(in: snapshot)
            #expect(obstacle?.status == .temporary)
            #expect(obstacle?.kind == "reauthenticationRequired")
            #expect(obstacle?.line.contains("same user") == true)
            #expect(WaitCommand.Goal.signedIn.obstacle(in: snapshot) == nil)
        }
        // A sign-in is already under way.
        snapshot.state = .establishing
        #expect(WaitCommand.Goal.fresh.obstacle(in: snapshot) == nil)
    }

    @Test func `a state that is not durable has the exit code of a temporary failure`() {
        var snapshot = signedIn
        snapshot.storage.durable = false

        let error = #expect(throws: CommandFailure.self) { try snapshot.requireDurable("it would be lost") }

        #expect(error?.status == .temporary)
        #expect(error?.line.hasPrefix("junctionctl: it would be lost (notDurable): ") == true)
    }

    @Test func `the result of a renewal is shown as far as the caller may see it`() throws {
        let token = try #require(signedIn.accessToken)
        #expect(RenewText(RenewResult(signedIn), now: now).paragraph == SnapshotText(signedIn, now: now).paragraph)
        #expect(
            RenewText(RenewResult(state: .established, accessToken: token), now: now).paragraph
                == """
                state     established: signed in
                token     valid until 2026-11-21T07:20:34Z (in 60 min)
                """
        )
    }

    @Test(arguments: [
        (ReconcileResult.Action.none, "in-sync"), (.signIn, "sign-in-needed"), (.signOut, "sign-out-needed"),
        (.switch, "switch-needed"), (.reauthenticate, "reauthentication-needed"), (.migrate, "migration-needed"),
        (.init(rawValue: "newer"), "newer"),
    ])
    func `each action of reconcile has a word for scripts`(action: ReconcileResult.Action, word: String) {
        #expect(action.verdict == word)
    }
}
