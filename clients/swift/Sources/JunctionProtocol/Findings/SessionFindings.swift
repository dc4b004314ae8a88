/// The findings of a diagnosis about a snapshot: one for each problem, with its remedy. The daemon makes them for its
/// own session. junctionctl makes them if it gets only the snapshot from the daemon.
package struct SessionFindings {
    private let snapshot: Snapshot
    private let now: Timestamp

    /// Makes the findings for a snapshot.
    package init(_ snapshot: Snapshot, now: Timestamp) {
        self.snapshot = snapshot
        self.now = now
    }

    /// All findings, with the one about the session first.
    package var checks: [Diagnosis.Check] {
        [session] + [storage, durability, renewal, clock].compactMap(\.self)
    }

    /// The finding about a missing session handler, if a handler is missing.
    package var missingHandler: Diagnosis.Check? {
        snapshot.isSignedIn && snapshot.renewal.needsHandler ? renewal : nil
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

    // MARK: Storage

    /// Whether the session cannot be opened, so that only the record's clear header is known.
    private var isOutOfReach: Bool { !snapshot.storage.isReadable }

    /// The finding about the storage. The daemon provides the cause together with the remedy.
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

    // MARK: Renewal

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
        problem("renewal", "The renewal waits for a session handler, and none is registered.", Self.howToRegister)
    }

    /// The finding about a handler that a later renewal needs. It is not a problem yet.
    private var handlerToCome: Diagnosis.Check? {
        guard snapshot.renewal.needsHandler, let token = snapshot.accessToken else { return nil }
        let consequence =
            token.expiresAt < .never
            ? "the access token cannot be renewed. Unless one registers, the session ends with the token at "
                + "\(token.expiresAt): from then on callers get none."
            : "the access token, which has no end, cannot be replaced if the provider no longer accepts it."
        return note("renewal", "No session handler is registered: \(consequence)", Self.howToRegister)
    }

    private static let howToRegister =
        "Start the app that registers as session handler, or run 'junctionctl handle-renewals --exec COMMAND'."

    private var clock: Diagnosis.Check? {
        guard let issued = snapshot.accessToken?.issuedAt, issued > now else { return nil }
        return .clockBeforeRecord(now: now, written: issued)
    }

    // MARK: Words

    private var userIsSignedIn: String { "User \(snapshot.userId ?? "unknown") is signed in" }
    private var ofUser: String { snapshot.userId.map { " of user \($0)" } ?? "" }
    private var expiry: String { snapshot.accessToken.map { " at \($0.expiresAt)" } ?? "" }
    private var lastError: String { snapshot.renewal.lastError.map { " (\($0))" } ?? "" }
    private var time: String { snapshot.renewal.notBefore.map { "\($0)" } ?? "an unknown time" }
    private var isTokenAlive: Bool { snapshot.state == .established }

    /// Makes a note while the token is valid, and a problem after that.
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
    /// The finding that the wall clock shows a time before the stored session was written.
    package static func clockBeforeRecord(now: Timestamp, written: Timestamp) -> Diagnosis.Check {
        Diagnosis.Check(
            name: "clock",
            verdict: .problem,
            detail: "The wall clock shows \(now), which is before the stored session was written (\(written)).",
            remedy: "Set the time, or enable a time service: timedatectl set-ntp true."
        )
    }
}
