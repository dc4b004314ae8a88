/// The state of the session, in the five words of the documentation.
package enum SessionState: String, Sendable, CaseIterable {
    case notLoggedIn
    case establishing
    case established
    case tokenExpired
    case terminated
}

/// The public state of the session, for every caller with the `status` capability. It never contains a secret.
package struct Snapshot: Hashable, Sendable {
    /// Increases whenever another member changes. It restarts with the process.
    package var revision: UInt64
    package var changedAt: WallTime
    package var facts: Facts

    package struct Facts: Hashable, Sendable {
        package var state: SessionState
        package var flags: [Flag] = []
        package var provider: String
        package var scheme: Scheme?
        package var userId: String?
        package var externalUserId: ExternalUserId?
        package var teamId: String?
        package var environment: String?
        package var region: String?
        package var accessToken: TokenFacts?
        package var renewal = Renewal()
        package var termination: Termination?
        package var authorization: Authorization?
        package var storage: StorageReport

        package init(state: SessionState, provider: String, storage: StorageReport) {
            self.state = state
            self.provider = provider
            self.storage = storage
        }
    }

    /// Junction's status flags, in the order of the wire.
    package enum Flag: String, Sendable, CaseIterable {
        case configured
        case signedIn
        case useApiKey
        case useSignInToken
        case pendingReauthentication
    }

    package struct Authorization: Hashable, Sendable {
        package var expiresAt: WallTime
    }

    package struct Renewal: Hashable, Sendable {
        package var phase = RenewalPhase.none
        package var notBefore: WallTime?
        package var failures = 0
        /// The last failure, in one line without secrets.
        package var lastError: String?
        /// Whether the next renewal needs a session handler and none is registered.
        package var needsHandler = false
    }

    package init(revision: UInt64, changedAt: WallTime, facts: Facts) {
        self.revision = revision
        self.changedAt = changedAt
        self.facts = facts
    }
}

package enum RenewalPhase: String, Sendable, CaseIterable {
    case none
    case scheduled
    case inFlight
    case waitingForHandler
    case postponed
    case backingOff
}

/// The protection and the state of the stored session.
package struct StorageReport: Hashable, Sendable {
    /// The source of the sealing key: `host+tpm2`, `tpm2`, `host` or `file`.
    package var sealedWith: String
    /// Whether the state in memory is also on disk.
    package var durable: Bool
    package var status: StorageStatus
    /// The reason of a status other than `ok`: what happened, to what, and what to do.
    package var reason: String?
    /// Whether the daemon has opened the stored session, or there is none. While this is false, no token is available.
    package var isReadable: Bool

    package init(
        sealedWith: String,
        durable: Bool = true,
        status: StorageStatus = .ok,
        reason: String? = nil,
        isReadable: Bool = true
    ) {
        self.sealedWith = sealedWith
        self.durable = durable
        self.status = status
        self.reason = reason
        self.isReadable = isReadable
    }
}

/// Whether the daemon can use the stored session. Without a record this is `ok`, `locked` if there is no
/// key, or `damaged` if the quarantine has a record that no sign-in has followed.
package enum StorageStatus: String, Sendable, CaseIterable {
    case ok
    case locked
    case damaged
    case unavailable
}
