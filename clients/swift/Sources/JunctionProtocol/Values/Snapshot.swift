/// The visible state of the session. It never contains a token. The codes of a sign-in that awaits approval are present
/// only for callers that may manage the session, each in memory that is wiped.
public struct Snapshot: Hashable, Sendable {
    /// A number that rises when another member changes. It has a meaning only within one connection.
    public var revision: UInt64
    /// The time of the last change.
    public var changedAt: Timestamp
    /// The state in one word.
    public var state: State
    /// Further flags of the session.
    public var flags: [Flag]
    /// `junction`, `social`, `sinch` or `oauth`.
    public var provider: String
    /// How the user was signed in: the scheme of a `Credential`.
    public var scheme: String?
    /// The provider's id of the signed-in user; in the state `terminated`, of the user whose session the provider
    /// ended.
    ///
    /// `JunctionClient.reconcile` compares it with the user that the app expects.
    public var userId: String?
    /// The app's id of the user, if the session came from `identify`.
    public var externalUserId: String?
    /// The team that the user belongs to.
    public var teamId: String?
    /// `sandbox` or `production`.
    public var environment: String?
    /// The region in which the provider keeps the user's data.
    public var region: String?
    /// The times of the present access token, if there is one.
    public var accessToken: TokenLife?
    /// The state of the renewal scheduler.
    public var renewal: Renewal
    /// Why the provider ended the session, if it did.
    public var termination: Termination?
    /// A sign-in that a person has not approved yet on another screen, if there is one.
    public var authorization: Authorization?
    /// How the session is stored.
    public var storage: Storage

    /// Makes a snapshot.
    public init(
        revision: UInt64,
        changedAt: Timestamp,
        state: State,
        flags: [Flag] = [],
        provider: String,
        scheme: String? = nil,
        userId: String? = nil,
        externalUserId: String? = nil,
        teamId: String? = nil,
        environment: String? = nil,
        region: String? = nil,
        accessToken: TokenLife? = nil,
        renewal: Renewal = Renewal(),
        termination: Termination? = nil,
        authorization: Authorization? = nil,
        storage: Storage
    ) {
        self.revision = revision
        self.changedAt = changedAt
        self.state = state
        self.flags = flags
        self.provider = provider
        self.scheme = scheme
        self.userId = userId
        self.externalUserId = externalUserId
        self.teamId = teamId
        self.environment = environment
        self.region = region
        self.accessToken = accessToken
        self.renewal = renewal
        self.termination = termination
        self.authorization = authorization
        self.storage = storage
    }

    /// Whether a user is signed in, even if the token has expired.
    public var isSignedIn: Bool { flags.contains(.signedIn) }
}

extension Snapshot {
    /// The state of the session.
    public struct State: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes a state from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No user is signed in.
        public static let notLoggedIn = State(rawValue: "notLoggedIn")
        /// A sign-in is in progress.
        public static let establishing = State(rawValue: "establishing")
        /// A user is signed in, and the access token is valid.
        public static let established = State(rawValue: "established")
        /// A user is signed in, and the access token has expired. It is being renewed.
        public static let tokenExpired = State(rawValue: "tokenExpired")
        /// The provider ended the session permanently.
        public static let terminated = State(rawValue: "terminated")

        static let known: [State] = [.notLoggedIn, .establishing, .established, .tokenExpired, .terminated]
    }

    /// A session flag.
    public struct Flag: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes a flag from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A user is signed in, or the daemon has all that a sign-in needs.
        public static let configured = Flag(rawValue: "configured")
        /// A user is signed in.
        public static let signedIn = Flag(rawValue: "signedIn")
        /// The session uses a team API key.
        public static let useApiKey = Flag(rawValue: "useApiKey")
        /// The session came from a Sign-In Token.
        public static let useSignInToken = Flag(rawValue: "useSignInToken")
        /// The provider requires a new credential. A valid token is still available.
        public static let pendingReauthentication = Flag(rawValue: "pendingReauthentication")

        static let known: [Flag] = [.configured, .signedIn, .useApiKey, .useSignInToken, .pendingReauthentication]
    }

    /// The times of an access token, without the token.
    public struct TokenLife: Hashable, Sendable {
        /// When the provider issued it.
        public var issuedAt: Timestamp
        /// When the token expires.
        public var expiresAt: Timestamp
        /// The number of the token. Each new token has a higher number.
        public var generation: UInt64

        /// Makes the times of a token.
        public init(issuedAt: Timestamp, expiresAt: Timestamp, generation: UInt64) {
            self.issuedAt = issuedAt
            self.expiresAt = expiresAt
            self.generation = generation
        }
    }

    /// The state of the renewal scheduler.
    public struct Renewal: Hashable, Sendable {
        /// The phase.
        public var phase: Phase
        /// When the scheduler continues, if that depends on the time.
        public var notBefore: Timestamp?
        /// The number of attempts that failed in a row.
        public var failures: Int
        /// The last error, in one line without secrets.
        public var lastError: String?
        /// Whether the next renewal needs a session handler and none is registered.
        public var needsHandler: Bool

        /// Makes a state.
        public init(
            phase: Phase = .none,
            notBefore: Timestamp? = nil,
            failures: Int = 0,
            lastError: String? = nil,
            needsHandler: Bool = false
        ) {
            self.phase = phase
            self.notBefore = notBefore
            self.failures = failures
            self.lastError = lastError
            self.needsHandler = needsHandler
        }

        /// The phase of the scheduler.
        public struct Phase: WireWord {
            /// The word on the wire.
            public var rawValue: String
            /// Makes a phase from any word.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// There is no token to renew.
            public static let none = Phase(rawValue: "none")
            /// The next renewal is scheduled.
            public static let scheduled = Phase(rawValue: "scheduled")
            /// The provider is processing a request.
            public static let inFlight = Phase(rawValue: "inFlight")
            /// The daemon asks a session handler, or waits for one to register.
            public static let waitingForHandler = Phase(rawValue: "waitingForHandler")
            /// No handler could help. The next attempt is at least ten minutes away.
            public static let postponed = Phase(rawValue: "postponed")
            /// The provider could not be reached. The next attempt is scheduled.
            public static let backingOff = Phase(rawValue: "backingOff")

            static let known: [Phase] = [.none, .scheduled, .inFlight, .waitingForHandler, .postponed, .backingOff]
        }
    }

    /// A sign-in that a person approves on another screen (RFC 8628, section 3.2). The codes are present only for
    /// callers that may manage the session: a program that reads a code could bind the device to another account.
    public struct Authorization: Hashable, Sendable {
        /// The code that the person types.
        public var userCode: SecretText?
        /// The address of the page for the code.
        public var verificationUri: String?
        /// The same address with the code in it, for a QR code, if the provider has one.
        public var verificationUriComplete: SecretText?
        /// Until when the sign-in can be approved.
        public var expiresAt: Timestamp

        /// Makes an authorization.
        public init(
            userCode: SecretText? = nil,
            verificationUri: String? = nil,
            verificationUriComplete: SecretText? = nil,
            expiresAt: Timestamp
        ) {
            self.userCode = userCode
            self.verificationUri = verificationUri
            self.verificationUriComplete = verificationUriComplete
            self.expiresAt = expiresAt
        }

        /// Hashes the members that are not secret.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(verificationUri)
            hasher.combine(expiresAt)
        }
    }

    /// How the session is stored.
    public struct Storage: Hashable, Sendable {
        /// The source of the sealing key: `host+tpm2`, `tpm2`, `host` or `file`.
        public var sealedWith: String
        /// Whether the state in memory is also on disk.
        public var durable: Bool
        /// Whether the stored session can be used.
        public var status: Status
        /// Whether the daemon has opened the stored session. `nil` if the status is `ok`, or if the daemon does not
        /// report it.
        public var readable: Bool?
        /// Why the status is not `ok`: what happened, to which object, and what to do, for a person.
        public var reason: String?

        /// Makes a state.
        public init(
            sealedWith: String,
            durable: Bool,
            status: Status,
            readable: Bool? = nil,
            reason: String? = nil
        ) {
            self.sealedWith = sealedWith
            self.durable = durable
            self.status = status
            self.readable = readable
            self.reason = reason
        }

        /// Whether the daemon has opened the stored session, or none is stored. While this is false, no token is
        /// available.
        public var isReadable: Bool { readable ?? (status == .ok) }

        /// The condition of the stored session.
        public struct Status: WireWord {
            /// The word on the wire.
            public var rawValue: String
            /// Makes a status from any word.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The stored session is valid, or none is stored.
            public static let ok = Status(rawValue: "ok")
            /// The sealing key is missing or not the right one, or the record belongs to another installation.
            public static let locked = Status(rawValue: "locked")
            /// A record was changed after it was written. If `readable` is true, it is not the record of the present
            /// session.
            public static let damaged = Status(rawValue: "damaged")
            /// The disk cannot read the record, or a newer release of the daemon wrote it.
            public static let unavailable = Status(rawValue: "unavailable")

            static let known: [Status] = [.ok, .locked, .damaged, .unavailable]
        }
    }
}
