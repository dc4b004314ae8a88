/// Everything about the session that may be shown. Never a token; the codes of a sign-in that awaits approval are there for
/// callers who may manage the session, each in its box.
public struct Snapshot: Hashable, Sendable {
    /// Rises whenever any other member changes; it has a meaning within one connection only.
    public var revision: UInt64
    /// When that was.
    public var changedAt: Timestamp
    /// The state in one word.
    public var state: State
    /// What else is the case.
    public var flags: [Flag]
    /// `junction`, `social`, `sinch` or `oauth`.
    public var provider: String
    /// How the user came to be signed in: the scheme of a `Credential`.
    public var scheme: String?
    /// The signed-in user as the provider spells the id; in `terminated`, the user whose session the provider has ended.
    ///
    /// `JunctionClient.reconcile` compares it with the user that the app expects.
    public var userId: String?
    /// The user as the app names them, when the session came from `identify`.
    public var externalUserId: String?
    /// The team that the user belongs to.
    public var teamId: String?
    /// `sandbox` or `production`.
    public var environment: String?
    /// Where the provider keeps the user's data.
    public var region: String?
    /// The life of the present access token, if there is one.
    public var accessToken: TokenLife?
    /// What the renewal scheduler is doing.
    public var renewal: Renewal
    /// Why the provider ended the session, if it did.
    public var termination: Termination?
    /// A sign-in that a person has yet to approve on another screen, if there is one.
    public var authorization: Authorization?
    /// How the session is kept.
    public var storage: Storage

    /// Puts a snapshot together.
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

    /// Whether a user is signed in, be their token alive or not.
    public var isSignedIn: Bool { flags.contains(.signedIn) }
}

extension Snapshot {
    /// The state of the session in one word.
    public struct State: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nobody is signed in.
        public static let notLoggedIn = State(rawValue: "notLoggedIn")
        /// A sign-in is under way.
        public static let establishing = State(rawValue: "establishing")
        /// A user is signed in and the access token is alive.
        public static let established = State(rawValue: "established")
        /// A user is signed in and the access token is dead; it is being renewed.
        public static let tokenExpired = State(rawValue: "tokenExpired")
        /// The provider ended the session for good.
        public static let terminated = State(rawValue: "terminated")

        static let known: [State] = [.notLoggedIn, .establishing, .established, .tokenExpired, .terminated]
    }

    /// One more thing that is the case.
    public struct Flag: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is enough to sign in a user, or a user is signed in.
        public static let configured = Flag(rawValue: "configured")
        /// A user is signed in.
        public static let signedIn = Flag(rawValue: "signedIn")
        /// The session uses a team API key.
        public static let useApiKey = Flag(rawValue: "useApiKey")
        /// The session came from a Sign-In Token.
        public static let useSignInToken = Flag(rawValue: "useSignInToken")
        /// The provider wants a new credential; a living token is still served.
        public static let pendingReauthentication = Flag(rawValue: "pendingReauthentication")

        static let known: [Flag] = [.configured, .signedIn, .useApiKey, .useSignInToken, .pendingReauthentication]
    }

    /// The life of an access token, without the token.
    public struct TokenLife: Hashable, Sendable {
        /// When the provider issued it.
        public var issuedAt: Timestamp
        /// When it dies.
        public var expiresAt: Timestamp
        /// Which token it is: every new one has a higher number.
        public var generation: UInt64

        /// Puts a token's life together.
        public init(issuedAt: Timestamp, expiresAt: Timestamp, generation: UInt64) {
            self.issuedAt = issuedAt
            self.expiresAt = expiresAt
            self.generation = generation
        }
    }

    /// What the renewal scheduler is doing.
    public struct Renewal: Hashable, Sendable {
        /// What it is at.
        public var phase: Phase
        /// When it goes on, if that is a matter of time.
        public var notBefore: Timestamp?
        /// How many attempts failed in a row.
        public var failures: Int
        /// What went wrong last, in one line without secrets.
        public var lastError: String?
        /// Whether the next renewal needs a session handler and none is registered.
        public var needsHandler: Bool

        /// Puts a report together.
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

        /// What the scheduler is at, in one word.
        public struct Phase: WireWord {
            /// The word on the wire.
            public var rawValue: String
            /// Takes any word.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// There is nothing to renew.
            public static let none = Phase(rawValue: "none")
            /// The next renewal has its time.
            public static let scheduled = Phase(rawValue: "scheduled")
            /// The provider is being asked.
            public static let inFlight = Phase(rawValue: "inFlight")
            /// A session handler is being asked, or is waited for.
            public static let waitingForHandler = Phase(rawValue: "waitingForHandler")
            /// No handler could help; the next attempt is ten minutes away.
            public static let postponed = Phase(rawValue: "postponed")
            /// The provider could not be reached; the next attempt has its time.
            public static let backingOff = Phase(rawValue: "backingOff")

            static let known: [Phase] = [.none, .scheduled, .inFlight, .waitingForHandler, .postponed, .backingOff]
        }
    }

    /// A sign-in that a person approves on another screen (RFC 8628 §3.2). The codes are there for callers who may manage
    /// the session, and for nobody else: whoever reads one could bind the device to an account of their own.
    public struct Authorization: Hashable, Sendable {
        /// What the person types.
        public var userCode: SecretText?
        /// Where.
        public var verificationUri: String?
        /// The same address with the code in it, for a QR picture, where the provider has that.
        public var verificationUriComplete: SecretText?
        /// Until when it can be approved.
        public var expiresAt: Timestamp

        /// Puts it together.
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

        /// By what is no secret.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(verificationUri)
            hasher.combine(expiresAt)
        }
    }

    /// How the session is kept.
    public struct Storage: Hashable, Sendable {
        /// Where the sealing key comes from: `host+tpm2`, `tpm2`, `host` or `file`.
        public var sealedWith: String
        /// Whether what is in memory is also on disk.
        public var durable: Bool
        /// Whether everything that is stored is in order.
        public var status: Status
        /// Whether the daemon has opened the stored session, if the status is not `ok` and the daemon says so.
        public var readable: Bool?
        /// Why the status is not `ok`: what happened, to what, and what to do, for a person.
        public var reason: String?

        /// Puts a report together.
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

        /// Whether the daemon has opened the stored session, or there is none. While this is false, no token can be had.
        public var isReadable: Bool { readable ?? (status == .ok) }

        /// Whether everything that is stored is in order, in one word.
        public struct Status: WireWord {
            /// The word on the wire.
            public var rawValue: String
            /// Takes any word.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// It is, or nothing is stored.
            public static let ok = Status(rawValue: "ok")
            /// The sealing key is missing or another one, or the record is of another installation.
            public static let locked = Status(rawValue: "locked")
            /// A record is not what was written. If `readable` is true, it is not the record of the present session.
            public static let damaged = Status(rawValue: "damaged")
            /// The disk refuses to read the record, or a newer release of the daemon wrote it.
            public static let unavailable = Status(rawValue: "unavailable")

            static let known: [Status] = [.ok, .locked, .damaged, .unavailable]
        }
    }
}
