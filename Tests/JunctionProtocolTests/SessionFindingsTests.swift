import Testing

@testable import JunctionProtocol

/// The findings of `doctor` about a session, for every kind of problem.
struct SessionFindingsTests {
    private static let now = Timestamp("2026-11-21T12:00:00Z")!
    private static let later = Timestamp("2026-11-21T13:00:00Z")!

    private static func signedIn(_ change: (inout Snapshot) -> Void = { _ in }) -> Snapshot {
        var snapshot = Snapshot(
            revision: 1,
            changedAt: now,
            state: .established,
            flags: [.configured, .signedIn],
            provider: "junction",
            userId: "anna",
            accessToken: .init(issuedAt: now, expiresAt: later, generation: 1),
            renewal: .init(phase: .scheduled, notBefore: later),
            storage: .init(sealedWith: "file", durable: true, status: .ok)
        )
        change(&snapshot)
        return snapshot
    }

    private static func stored(_ status: Snapshot.Storage.Status, readable: Bool) -> Snapshot.Storage {
        .init(
            sealedWith: "file",
            durable: true,
            status: status,
            readable: readable,
            reason: "It is \(status). Do this."
        )
    }

    private static func nobody(_ change: (inout Snapshot) -> Void = { _ in }) -> Snapshot {
        var snapshot = signedIn()
        (snapshot.state, snapshot.flags, snapshot.userId) = (.notLoggedIn, [], nil)
        (snapshot.accessToken, snapshot.renewal) = (nil, .init())
        change(&snapshot)
        return snapshot
    }

    struct Case: Sendable {
        var name: String
        var snapshot: Snapshot
        var at = now
        /// The findings as `name verdict`, in order.
        var findings: [String]
        /// Words of the last finding and of its remedy.
        var words: [String] = []
    }

    static let table = [
        Case(name: "well", snapshot: signedIn(), findings: ["session ok"], words: ["anna is signed in"]),
        Case(name: "nobody", snapshot: nobody(), findings: ["session ok"], words: ["Nobody is signed in"]),
        Case(
            name: "awaiting approval",
            snapshot: nobody { $0.authorization = .init(expiresAt: later) },
            findings: ["session note"],
            words: ["awaits approval until 2026-11-21T13:00:00Z"]
        ),
        Case(
            name: "terminated",
            snapshot: nobody {
                $0.state = .terminated
                $0.termination = .init(code: "invalid_token", message: "deleted", at: now)
            },
            findings: ["session problem"],
            words: ["terminated", "deleted (invalid_token)", "sign in anew"]
        ),
        Case(
            name: "reauthentication pending, alive",
            snapshot: signedIn { $0.flags.append(.pendingReauthentication) },
            findings: ["session problem"],
            words: ["reauthentication is pending", "served until 2026-11-21T13:00:00Z", "for the same user"]
        ),
        Case(
            name: "reauthentication pending, dead",
            snapshot: signedIn {
                $0.state = .tokenExpired
                $0.flags.append(.pendingReauthentication)
            },
            findings: ["session problem"],
            words: ["no token until then"]
        ),
        Case(
            name: "locked",
            snapshot: signedIn { $0.storage = stored(.locked, readable: false) },
            findings: ["session problem", "storage problem"],
            words: ["It is locked. Do this."]
        ),
        Case(
            name: "unavailable",
            snapshot: signedIn { $0.storage = stored(.unavailable, readable: false) },
            findings: ["session problem", "storage problem"],
            words: ["It is unavailable. Do this."]
        ),
        Case(
            name: "damaged",
            snapshot: nobody { $0.storage = stored(.damaged, readable: false) },
            findings: ["session problem", "storage problem"],
            words: ["It is damaged. Do this."]
        ),
        Case(
            name: "damaged beside a session that is well",
            snapshot: signedIn { $0.storage = stored(.damaged, readable: true) },
            findings: ["session ok", "storage problem"],
            words: ["It is damaged. Do this."]
        ),
        Case(
            name: "not durable",
            snapshot: signedIn { $0.storage.durable = false },
            findings: ["session ok", "durability problem"],
            words: ["not on the disk", "Make room"]
        ),
        Case(
            name: "no handler, token alive",
            snapshot: signedIn { $0.renewal = .init(phase: .waitingForHandler, needsHandler: true) },
            findings: ["session ok", "renewal problem"],
            words: ["none is registered", "handle-renewals"]
        ),
        Case(
            name: "no handler, token dead",
            snapshot: signedIn {
                $0.state = .tokenExpired
                $0.renewal = .init(phase: .waitingForHandler, needsHandler: true)
            },
            findings: ["session problem", "renewal problem"]
        ),
        Case(
            name: "a handler will be needed",
            snapshot: signedIn { $0.renewal.needsHandler = true },
            findings: ["session ok", "renewal note"],
            words: ["Unless one registers, the session ends with the token at 2026-11-21T13:00:00Z", "handle-renewals"]
        ),
        Case(
            name: "a handler may be needed for a token without an end",
            snapshot: signedIn {
                $0.accessToken?.expiresAt = .never
                $0.renewal = .init(needsHandler: true)
            },
            findings: ["session ok", "renewal note"],
            words: ["which has no end", "handle-renewals"]
        ),
        Case(
            name: "postponed, alive",
            snapshot: signedIn { $0.renewal = .init(phase: .postponed, notBefore: later) },
            findings: ["session ok", "renewal note"],
            words: ["postponed until 2026-11-21T13:00:00Z", "junctionctl renew"]
        ),
        Case(
            name: "postponed, dead",
            snapshot: signedIn {
                $0.state = .tokenExpired
                $0.renewal = .init(phase: .postponed, notBefore: later)
            },
            findings: ["session problem", "renewal problem"]
        ),
        Case(
            name: "backing off",
            snapshot: signedIn {
                $0.renewal = .init(phase: .backingOff, notBefore: later, failures: 3, lastError: "No answer")
            },
            findings: ["session ok", "renewal note"],
            words: ["failed 3 times (No answer)", "13:00:00Z"]
        ),
        Case(
            name: "the clock is before the record",
            snapshot: signedIn(),
            at: Timestamp("2026-11-21T11:59:59Z")!,
            findings: ["session ok", "clock problem"],
            words: ["11:59:59Z", "before the stored session was written (2026-11-21T12:00:00Z)", "timedatectl"]
        ),
    ]

    @Test(arguments: table)
    func `each state of the session has its finding, and every problem has a remedy`(of row: Case) {
        let checks = SessionFindings(row.snapshot, now: row.at).checks

        #expect(checks.map { "\($0.name) \($0.verdict)" } == row.findings, "\(row.name)")
        let last = [checks.last?.detail, checks.last?.remedy].compactMap(\.self).joined(separator: " ")
        for words in row.words { #expect(last.contains(words), "\(row.name)") }
        let problems = checks.filter { $0.verdict == .problem }
        // The daemon's reason for the storage status contains the remedy.
        let reason = row.snapshot.storage.reason
        #expect(
            problems.isEmpty || problems.contains { $0.remedy?.isEmpty == false || $0.detail == reason },
            "\(row.name)"
        )
    }
}

extension SessionFindingsTests.Case: CustomTestStringConvertible {
    var testDescription: String { name }
}
