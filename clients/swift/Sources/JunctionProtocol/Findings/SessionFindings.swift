/// What a snapshot says to whoever looks the installation over: one finding for each thing that is not as it should be, with its
/// remedy. The daemon says it of its session, and junctionctl where the daemon tells it no more than the snapshot.
package struct SessionFindings {
    private let snapshot: Snapshot
    private let handlers: Handlers
    private let now: Timestamp

    /// What is known of session handlers.
    package struct Handlers {
        /// How many are there; nothing where it is not known.
        package var count: Int?
        /// Whether they are asked at each renewal; nothing where it is not known.
        package var areAsked: Bool?

        /// Puts together what is known; without arguments that is nothing.
        package init(count: Int? = nil, areAsked: Bool? = nil) {
            self.count = count
            self.areAsked = areAsked
        }
    }

    /// Looks at a snapshot.
    package init(_ snapshot: Snapshot, handlers: Handlers = Handlers(), now: Timestamp) {
        self.snapshot = snapshot
        self.handlers = handlers
        self.now = now
    }

    /// What is to be said, the session itself first.
    package var checks: [Diagnosis.Check] {
        [session] + [storage, durability, renewal, clock].compactMap(\.self)
    }

    // MARK: The session

    private var session: Diagnosis.Check {
        if isOutOfReach {
            return problem(
                "session",
                "No token can be had: the stored session\(ofUser) is \(snapshot.storage.status).",
                nil
            )
        }
        return switch snapshot.state {
        case .terminated: terminated
        case _ where snapshot.flags.contains(.pendingReauthentication): reauthentication
        case .tokenExpired:
            problem(
                "session",
                "\(userIsSignedIn), and the access token has expired\(expiry): callers get none until it is renewed.",
                "What is said of the renewal, of the provider and of the clock tells why."
            )
        case .establishing: ok("session", "A sign-in is under way.")
        case .established: ok("session", "\(userIsSignedIn).")
        default: nobody
        }
    }

    private var nobody: Diagnosis.Check {
        guard let authorization = snapshot.authorization else { return ok("session", "Nobody is signed in.") }
        return note(
            "session",
            "Nobody is signed in; a sign-in awaits approval until \(authorization.expiresAt).",
            "Approve it: 'junctionctl sign-in --device' shows the code to whoever may manage the session."
        )
    }

    private var terminated: Diagnosis.Check {
        let why = snapshot.termination.map { " at \($0.at): \($0.message) (\($0.code))" } ?? ""
        return problem(
            "session",
            "The provider has terminated the session\(ofUser)\(why).",
            "If the account is closed by mistake, have it opened again at the provider; then sign in anew."
        )
    }

    private var reauthentication: Diagnosis.Check {
        let consequence =
            isTokenAlive
            ? "its access token is served until \(snapshot.accessToken.map { "\($0.expiresAt)" } ?? "it ends")"
            : "callers get no token until then"
        return problem(
            "session",
            "\(userIsSignedIn), and reauthentication is pending: the provider wants a new credential; \(consequence).",
            "Sign in again with a new credential for the same user."
        )
    }

    // MARK: How it is kept

    /// The session cannot be opened: what is known of it is its clear header.
    private var isOutOfReach: Bool { !snapshot.storage.isReadable }

    /// The daemon knows the cause, and says it together with the remedy.
    private var storage: Diagnosis.Check? {
        guard snapshot.storage.status != .ok else { return nil }
        return problem("storage", snapshot.storage.reason ?? "A stored session is \(snapshot.storage.status).", nil)
    }

    private var durability: Diagnosis.Check? {
        guard !snapshot.storage.durable else { return nil }
        return problem(
            "durability",
            "The session is in memory and not on the disk: a restart may cost it.",
            "Make room on the disk of the state directory, or repair it; the write is tried again by itself."
        )
    }

    // MARK: How it goes on

    private var renewal: Diagnosis.Check? {
        guard snapshot.isSignedIn, !isOutOfReach, !snapshot.flags.contains(.pendingReauthentication) else { return nil }
        let renewal = snapshot.renewal
        return switch renewal.phase {
        case .waitingForHandler: waitingForHandler
        case .postponed:
            trouble(
                "The renewal is postponed until \(time): no session handler had what it takes\(lastError).",
                "'junctionctl renew' asks the session handlers at once."
            )
        case .backingOff:
            trouble(
                "The renewal has failed \(renewal.failures) times\(lastError); the next attempt is at \(time).",
                "It goes on by itself; what is said of the provider tells whether there is something to mend."
            )
        default: handlerToCome
        }
    }

    private var waitingForHandler: Diagnosis.Check {
        if let count = handlers.count, count > 0 {
            return note("renewal", "A session handler is being asked for what the renewal takes.", nil)
        }
        let remedy = "Start the app that registers as session handler, or run 'junctionctl handle-renewals'."
        guard handlers.count == 0 else {
            return trouble("The renewal waits for a session handler.", remedy)
        }
        return problem("renewal", "The renewal waits for a session handler, and none is registered.", remedy)
    }

    /// Nothing is wrong yet.
    private var handlerToCome: Diagnosis.Check? {
        guard handlers.areAsked == true, handlers.count == 0, snapshot.accessToken != nil else { return nil }
        return note(
            "renewal",
            "No session handler is registered, and the next renewal needs one" + (isTimed ? " at \(time)." : "."),
            "Start the app that registers as session handler, or run 'junctionctl handle-renewals'."
        )
    }

    private var clock: Diagnosis.Check? {
        guard let issued = snapshot.accessToken?.issuedAt, issued > now else { return nil }
        return .clockBeforeRecord(now: now, written: issued)
    }

    // MARK: Words

    private var userIsSignedIn: String { "User \(snapshot.userId ?? "unknown") is signed in" }
    private var ofUser: String { snapshot.userId.map { " of user \($0)" } ?? "" }
    private var expiry: String { snapshot.accessToken.map { " at \($0.expiresAt)" } ?? "" }
    private var lastError: String { snapshot.renewal.lastError.map { " (\($0))" } ?? "" }
    private var isTimed: Bool { snapshot.renewal.notBefore != nil }
    private var time: String { snapshot.renewal.notBefore.map { "\($0)" } ?? "an unknown time" }
    private var isTokenAlive: Bool { snapshot.state == .established }

    /// A note while the token lives, a problem from then on.
    private func trouble(_ detail: String, _ remedy: String) -> Diagnosis.Check {
        isTokenAlive ? note("renewal", detail, remedy) : problem("renewal", detail, remedy)
    }

    private func ok(_ name: String, _ detail: String) -> Diagnosis.Check {
        Diagnosis.Check(name: name, verdict: .ok, detail: detail)
    }

    private func note(_ name: String, _ detail: String, _ remedy: String?) -> Diagnosis.Check {
        Diagnosis.Check(name: name, verdict: .note, detail: detail, remedy: remedy)
    }

    private func problem(_ name: String, _ detail: String, _ remedy: String?) -> Diagnosis.Check {
        Diagnosis.Check(name: name, verdict: .problem, detail: detail, remedy: remedy)
    }
}

extension Diagnosis.Check {
    /// The wall clock shows a time at which what is stored did not exist yet.
    package static func clockBeforeRecord(now: Timestamp, written: Timestamp) -> Diagnosis.Check {
        Diagnosis.Check(
            name: "clock",
            verdict: .problem,
            detail: "The wall clock shows \(now), which is before the stored session was written (\(written)).",
            remedy: "Set the time, or enable a time service: timedatectl set-ntp true."
        )
    }
}
