import JunctionClient
import JunctionProtocol

/// The state of the session in words, for `status` and for verbs that end with a new state.
struct SnapshotText {
    let snapshot: Snapshot
    let now: Timestamp
    /// The settings that wait for a restart of the daemon.
    let pendingRestart: PendingRestart?

    init(_ snapshot: Snapshot, pendingRestart: PendingRestart? = nil, now: Timestamp = .now) {
        self.snapshot = snapshot
        self.pendingRestart = pendingRestart
        self.now = now
    }

    /// A few lines: the user, the token, the renewal and the storage.
    var paragraph: String {
        var rows: [(name: String, text: String)] = [("state", state)]
        if let user = snapshot.userId { rows.append(("user", user)) }
        if let external = snapshot.externalUserId { rows.append(("known as", external)) }
        rows.append(("provider", provider))
        if let authorization = snapshot.authorization {
            rows.append(("sign-in", ApprovalText(authorization, now: now).summary))
        }
        if let token = snapshot.accessToken { rows.append(("token", token.life(at: now))) }
        if snapshot.renewal.phase != .none { rows.append(("renewal", renewal)) }
        if let end = snapshot.termination { rows.append(("ended", "\(beside(end.at)): \(end.message) (\(end.code))")) }
        rows.append(("storage", storage))
        if let pendingRestart { rows.append(("restart", pendingRestart.text)) }
        return rows.asTable
    }

    /// One line, for a log of changes.
    var line: String {
        var words = ["\(snapshot.changedAt)", snapshot.state.rawValue]
        if let user = snapshot.userId { words.append("user=\(user)") }
        if let token = snapshot.accessToken {
            let end = token.expiresAt < .never ? beside(token.expiresAt) : "never"
            words.append("token-until=\(end)")
        }
        if snapshot.renewal.phase != .none { words.append("renewal=\(snapshot.renewal.phase)") }
        let pending = Snapshot.Flag.pendingReauthentication
        if snapshot.flags.contains(pending) { words.append("\(pending)") }
        // A log must not contain the code: a reader could bind this device to another account.
        if let authorization = snapshot.authorization {
            words.append("authorization-until=\(beside(authorization.expiresAt))")
        }
        if let termination = snapshot.termination { words.append("termination=\(termination.code)") }
        if snapshot.storage.status != .ok { words.append("storage=\(snapshot.storage.status)") }
        if !snapshot.storage.durable { words.append("durable=false") }
        return words.joined(separator: " ").onOneLine
    }

    /// The state's name on the wire, and its meaning.
    private var state: String {
        guard snapshot.storage.isReadable else {
            let reason = snapshot.storage.reason ?? "'junctionctl doctor' says why."
            return
                "\(snapshot.state): no token can be had, because the storage is \(snapshot.storage.status). \(reason)"
        }
        let words = snapshot.state.explained(isConfigured: snapshot.flags.contains(.configured))
        guard snapshot.flags.contains(.pendingReauthentication) else { return words }
        return "\(words); \(Snapshot.Flag.pendingReauthentication): a new credential is required"
    }

    private var provider: String {
        let parts = [snapshot.provider, snapshot.environment, snapshot.region, snapshot.scheme]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private func beside(_ time: Timestamp) -> String { time.beside(now) }

    private var renewal: String {
        let renewal = snapshot.renewal
        let words =
            switch renewal.phase {
            case .scheduled: "scheduled, at"
            case .inFlight: "inFlight: under way"
            case .waitingForHandler: "waitingForHandler: for a session handler, such as 'junctionctl handle-renewals'"
            case .postponed: "postponed until"
            case .backingOff: "backingOff: failed \(renewal.failures) times, next attempt at"
            default: renewal.phase.rawValue
            }
        let time = renewal.notBefore.map { " \(beside($0))" } ?? ""
        let isMissed = renewal.phase == .scheduled && renewal.needsHandler
        let handler = isMissed ? "; it needs a session handler, and none is registered" : ""
        return words + time + handler + (renewal.lastError.map { " (\($0))" } ?? "")
    }

    private var storage: String {
        let storage = snapshot.storage
        let health = storage.status == .ok ? "sealed with \(storage.sealedWith)" : "\(storage.status)"
        return storage.durable ? health : "\(health); not on disk yet"
    }
}

/// The result of a renewal in words, as far as the caller may see it.
struct RenewText {
    let result: RenewResult
    let now: Timestamp

    init(_ result: RenewResult, now: Timestamp = .now) {
        self.result = result
        self.now = now
    }

    /// A few lines: the whole state, or the part of it that a caller without the capability `status` sees.
    var paragraph: String {
        if let snapshot = result.snapshot { return SnapshotText(snapshot, now: now).paragraph }
        var rows = [(name: "state", text: result.state.explained(isConfigured: false))]
        if let token = result.accessToken { rows.append(("token", token.life(at: now))) }
        return rows.asTable
    }
}

extension Snapshot.State {
    /// Returns the state's name on the wire, and its meaning.
    fileprivate func explained(isConfigured: Bool) -> String {
        let meaning =
            switch self {
            case .notLoggedIn: isConfigured ? "configured, nobody is signed in" : "not signed in"
            case .establishing: "signing in"
            case .established: "signed in"
            case .tokenExpired: "signed in, but the token is dead until it is renewed"
            case .terminated: "ended by the provider"
            default: "a newer daemon's word"
            }
        return "\(self): \(meaning)"
    }
}

extension Snapshot.TokenLife {
    fileprivate func life(at now: Timestamp) -> String {
        guard expiresAt < .never else { return "valid without an end" }
        return expiresAt > now ? "valid until \(expiresAt.beside(now))" : "dead since \(expiresAt.beside(now))"
    }
}

extension [(name: String, text: String)] {
    /// One line for each row, with the texts in one column.
    var asTable: String {
        map { row in
            row.name + String(repeating: " ", count: 10 - row.name.count) + row.text.onOneLine
        }.joined(separator: "\n")
    }
}

extension Timestamp {
    /// Returns a time in UTC, and its distance from now.
    fileprivate func beside(_ now: Timestamp) -> String { "\(self) (\(Distance(to: self, from: now)))" }
}
