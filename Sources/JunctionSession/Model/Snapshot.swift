/// The state of the session, in the five words that users know.
package enum SessionState: String, Sendable, CaseIterable {
    case notLoggedIn
    case establishing
    case established
    case tokenExpired
    case terminated
}

/// Everything about the session that may be shown to anybody with the `status` capability. Never a secret.
package struct Snapshot: Hashable, Sendable {
    /// Rises whenever any other member changes; restarts with the process.
    package var revision: UInt64
    package var changedAt: WallTime
    package var facts: Facts

    /// What is compared to know whether there is anything to announce.
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

    /// Junction's status set; in this order on the wire.
    package enum Flag: String, Sendable, CaseIterable {
        case configured
        case signedIn
        case useApiKey
        case useSignInToken
        case pendingReauthentication
    }

    /// A sign-in that awaits the approval of a person; its codes are not for everybody.
    package struct Authorization: Hashable, Sendable {
        package var expiresAt: WallTime

        package init(expiresAt: WallTime) {
            self.expiresAt = expiresAt
        }
    }

    package struct Renewal: Hashable, Sendable {
        package var phase = RenewalPhase.none
        package var notBefore: WallTime?
        package var failures = 0
        /// What went wrong last, in one line without secrets.
        package var lastError: String?
        /// The next renewal needs a session handler, and none is registered.
        package var needsHandler = false

        package init() {}
    }

    package init(revision: UInt64, changedAt: WallTime, facts: Facts) {
        self.revision = revision
        self.changedAt = changedAt
        self.facts = facts
    }
}

/// What the renewal scheduler is doing.
package enum RenewalPhase: String, Sendable, CaseIterable {
    case none
    case scheduled
    case inFlight
    case waitingForHandler
    case postponed
    case backingOff
}

/// What protects the stored session, and whether it is in order.
package struct StorageReport: Hashable, Sendable {
    /// `host+tpm2`, `tpm2`, `host` or `file`: where the sealing key comes from.
    package var sealedWith: String
    /// Whether what is in memory is also on disk.
    package var durable: Bool
    package var status: StorageStatus
    /// Why the status is not `ok`: what happened, to what, what to do.
    package var reason: String?
    /// Whether the daemon has opened the stored session, or there is none. While it has not, no token can be had.
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

/// Whether the sealed state can be read: absent and in order are both `ok`.
package enum StorageStatus: String, Sendable, CaseIterable {
    case ok
    case locked
    case damaged
    case unavailable
}
