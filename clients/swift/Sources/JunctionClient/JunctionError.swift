public import JunctionProtocol

/// Why a call failed: the daemon refused it, or could not be reached.
public struct JunctionError: Error, Hashable, Sendable {
    /// The kind of the error, for programs.
    public var kind: Kind
    /// What happened, to which object, and what to do, for a person. Never a secret.
    public var message: String
    /// The number of the error on the wire; `nil` if the error did not come from the daemon.
    public var code: Int?
    /// How long to wait before the next attempt, if that helps.
    public var retryAfter: Duration?
    /// For `alreadySignedIn`: the signed-in user.
    public var userId: String?
    /// For `sessionTerminated`: the reason.
    public var termination: Termination?
    /// For `permissionDenied`: the capability that the caller lacks.
    public var capability: String?
    /// For `invalidParams`: the largest possible value.
    public var maximum: Duration?
    /// What a user at a terminal can do, if that depends on the cause and not only on the kind.
    public var advice: String?
    /// For `connectionLost`: whether the daemon stopped reading before it had the whole request, so that it did
    /// nothing.
    var wasNotTaken = false

    /// Makes an error that did not come from the daemon.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The kind of an error. A newer daemon may use kinds that are not listed here.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The word in `data.kind` on the wire.
        public var rawValue: String

        /// Makes a kind from any word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

// The errors that the daemon answers with.
extension JunctionError.Kind {
    /// Another user is signed in; `userId` names that user.
    public static let alreadySignedIn = Self(.alreadySignedIn)
    /// The token, code or key is malformed or was refused. Nothing changed.
    public static let invalidCredential = Self(.invalidCredential)
    /// No user is signed in.
    public static let notSignedIn = Self(.notSignedIn)
    /// The session is kept, but needs a new credential.
    public static let reauthenticationRequired = Self(.reauthenticationRequired)
    /// The user was deleted, disabled or banned; `termination` says why.
    public static let sessionTerminated = Self(.sessionTerminated)
    /// The provider gave no usable answer. The session is unchanged.
    public static let providerUnavailable = Self(.providerUnavailable)
    /// The caller must not do this, or must not open the socket.
    public static let permissionDenied = Self(.permissionDenied)
    /// An API key's session cannot become the session of another user, environment or region.
    public static let incompatibleCredential = Self(.incompatibleCredential)
    /// The sealed state cannot be read. Nothing was erased.
    public static let storageUnavailable = Self(.storageUnavailable)
    /// The token has expired, and no other is available now.
    public static let tokenExpired = Self(.tokenExpired)
    /// A limit of this caller is reached, or the token is valid, but not as long as requested.
    public static let busy = Self(.busy)
    /// The provider or the scheme does not support this.
    public static let unsupported = Self(.unsupported)
    /// The daemon refuses its configuration and serves no call, or the OAuth server does not accept the client or is
    /// another issuer. In the second case the session is kept.
    public static let misconfigured = Self(.misconfigured)
    /// A parameter is missing, unknown or out of range.
    public static let invalidParams = Self(.invalidParams)
    /// The daemon is older than this library, and does not have the method.
    public static let methodNotFound = Self(.methodNotFound)

    init(_ code: ErrorCode) {
        self.init(rawValue: code.word)
    }
}

// The errors of this library.
extension JunctionError.Kind {
    /// No daemon listens on the socket.
    public static let daemonUnreachable = Self(rawValue: "daemonUnreachable")
    /// The connection ended before the answer came. It is unknown whether the daemon carried out the call.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// This program lacks a resource that the call needs, such as a descriptor. The daemon may work normally.
    ///
    /// Loops that were connected before wait until the resource is available.
    public static let localFailure = Self(rawValue: "localFailure")
    /// The path is not a valid socket path.
    public static let invalidSocketPath = Self(rawValue: "invalidSocketPath")
    /// This library cannot read the daemon's answer.
    public static let unreadableAnswer = Self(rawValue: "unreadableAnswer")
    /// The request is longer than the daemon accepts. It was not sent.
    public static let requestTooLarge = Self(rawValue: "requestTooLarge")
    /// The call took longer than the caller's limit.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The task was cancelled. The daemon still carries out the call.
    public static let cancelled = Self(rawValue: "cancelled")
}

extension JunctionError {
    /// Makes an error from the daemon's.
    public init(_ error: WireError) {
        let word = error.kind ?? error.knownCode?.word ?? "error\(error.code)"
        self.init(Kind(rawValue: word), error.message)
        code = error.code
        retryAfter = error.retryAfter.flatMap(Duration.onWire(seconds:))
        userId = error.userId
        termination = error.termination
        capability = error.capability
        maximum = error.maximum.flatMap(Duration.onWire(seconds:))
        advice = error.remedy
    }

    /// Whether the same request may succeed on a new connection: the daemon restarts, is busy, or waits for a corrected
    /// configuration.
    var isWorthReconnecting: Bool {
        [.daemonUnreachable, .connectionLost, .busy, .misconfigured].contains(kind)
    }

    static let connectionLost = JunctionError(.connectionLost, "the daemon closed the connection before it answered")
    /// The daemon stopped reading before it had the whole request.
    static let notTaken: JunctionError = {
        var error = JunctionError(.connectionLost, "the daemon closed the connection before it took the request")
        error.wasNotTaken = true
        return error
    }()
    static let timedOut = JunctionError(.timedOut, "the daemon did not answer in time")
    static let cancelled = JunctionError(.cancelled, "nobody waits for the answer any more")
    package static let requestTooLarge = JunctionError(
        .requestTooLarge,
        "the request is longer than \(LineSplitter.longestLine) bytes, which is what the daemon accepts"
    )

    static func unreadable(_ what: some CustomStringConvertible) -> JunctionError {
        JunctionError(.unreadableAnswer, "the daemon's answer cannot be read: \(what)")
    }
}

extension JunctionError: CustomStringConvertible {
    /// The message, and the kind in parentheses.
    public var description: String { "\(message) (\(kind.rawValue))" }
}

extension Duration {
    /// Converts a number of seconds from the wire; `nil` if a clock could not measure that duration.
    ///
    /// This is not an initializer. If a module declares one for `Duration`, Swift 6.3's whole-module mode resolves
    /// `timespec` to a type of `SwiftOverlayShims`, and no file that imports Glibc can use it.
    static func onWire(seconds: Double) -> Duration? {
        guard seconds >= 0, seconds < 1e15 else { return nil }
        return .seconds(seconds)
    }
}
