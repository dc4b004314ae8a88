public import JunctionProtocol

/// Why a request was not fulfilled: by the daemon's word, or because the daemon could not be asked.
public struct JunctionError: Error, Hashable, Sendable {
    /// What to act on.
    public var kind: Kind
    /// What happened, to what, and what to do, for a person. Never a secret.
    public var message: String
    /// The number of the error on the wire; `nil` when the daemon was never heard.
    public var code: Int?
    /// How long to wait before asking again, where that helps.
    public var retryAfter: Duration?
    /// `alreadySignedIn`: who is.
    public var userId: String?
    /// `sessionTerminated`: why.
    public var termination: Termination?
    /// `permissionDenied`: the capability that the caller lacks.
    public var capability: String?
    /// `invalidParams`: how much could have been asked for.
    public var maximum: Duration?
    /// What somebody at a terminal can do about it, where that depends on the cause and not on the kind alone.
    public var advice: String?
    /// `connectionLost`: the daemon had stopped listening before it had the whole request, so it did nothing.
    var wasNotTaken = false

    /// Makes an error that did not come from the daemon.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The word for an error. A newer daemon may know more of them than are listed here.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The word, as in `data.kind` on the wire.
        public var rawValue: String

        /// Takes a word from anywhere.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

// What the daemon answers.
extension JunctionError.Kind {
    /// Another user is signed in; `userId` names who.
    public static let alreadySignedIn = Self(.alreadySignedIn)
    /// The token, code or key is malformed or was refused; nothing changed.
    public static let invalidCredential = Self(.invalidCredential)
    /// There is no session.
    public static let notSignedIn = Self(.notSignedIn)
    /// The session is kept, but needs a new credential.
    public static let reauthenticationRequired = Self(.reauthenticationRequired)
    /// The user was deleted, disabled or banned; `termination` says why.
    public static let sessionTerminated = Self(.sessionTerminated)
    /// The provider gave no usable answer; nothing is lost.
    public static let providerUnavailable = Self(.providerUnavailable)
    /// The caller may not do this; also: may not open the socket.
    public static let permissionDenied = Self(.permissionDenied)
    /// An API key's session cannot become the session of another user, environment or region.
    public static let incompatibleCredential = Self(.incompatibleCredential)
    /// The sealed state cannot be read; nothing was erased.
    public static let storageUnavailable = Self(.storageUnavailable)
    /// The token is dead, and no other can be had now.
    public static let tokenExpired = Self(.tokenExpired)
    /// A limit of this caller is reached, or the token lives, but not as long as the caller wants it to.
    public static let busy = Self(.busy)
    /// The provider or the scheme does not have this.
    public static let unsupported = Self(.unsupported)
    /// The daemon's configuration is refused: it serves nobody until that is mended.
    public static let misconfigured = Self(.misconfigured)
    /// A parameter is missing, unknown or out of range.
    public static let invalidParams = Self(.invalidParams)
    /// The daemon is older than this library, and does not have this.
    public static let methodNotFound = Self(.methodNotFound)

    init(_ code: ErrorCode) {
        self.init(rawValue: code.word)
    }
}

// What happens on this side of the socket.
extension JunctionError.Kind {
    /// No daemon listens on the socket.
    public static let daemonUnreachable = Self(rawValue: "daemonUnreachable")
    /// The connection ended before the answer came; whether the daemon did what was asked is unknown.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// This program cannot have what it needs to ask, such as one more descriptor; the daemon may be well.
    ///
    /// Loops that had a connection before wait until it can.
    public static let localFailure = Self(rawValue: "localFailure")
    /// The path cannot be that of a socket.
    public static let invalidSocketPath = Self(rawValue: "invalidSocketPath")
    /// The daemon said something that this library cannot read.
    public static let unreadableAnswer = Self(rawValue: "unreadableAnswer")
    /// The request is longer than the daemon accepts; it was not sent.
    public static let requestTooLarge = Self(rawValue: "requestTooLarge")
    /// It took longer than the caller wanted to wait.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The waiting task was cancelled; the daemon finishes what it was asked.
    public static let cancelled = Self(rawValue: "cancelled")
}

extension JunctionError {
    /// The error that the daemon answered with.
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

    /// Whether the same request may succeed on a new connection: the daemon restarts, is busy for the moment, or somebody has
    /// its configuration to mend.
    var isWorthReconnecting: Bool {
        [.daemonUnreachable, .connectionLost, .busy, .misconfigured].contains(kind)
    }

    static let connectionLost = JunctionError(.connectionLost, "the daemon closed the connection before it answered")
    /// The daemon had stopped listening before it had the whole request.
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
    /// The message, and the kind in brackets.
    public var description: String { "\(message) (\(kind.rawValue))" }
}

extension Duration {
    /// A number of seconds from the wire; nothing when it is no length of time that a clock could measure.
    ///
    /// No initializer: where a module declares one for `Duration`, Swift 6.3's whole-module mode takes `timespec` for a type of
    /// `SwiftOverlayShims`, and no file that imports Glibc can use it.
    static func onWire(seconds: Double) -> Duration? {
        guard seconds >= 0, seconds < 1e15 else { return nil }
        return .seconds(seconds)
    }
}
