import Glibc
import JunctionClient
import JunctionNotify
import JunctionProtocol

/// Keeps a token file equal to the token of the session, until a signal or an error ends it.
struct TokenFileFeed {
    private var file: TokenFile
    let format: TokenFormat
    let options: GlobalOptions
    /// The token in the file, if there is one of this process.
    private var written: Written?
    /// Whether the file could be written once, so that a failure may be transient.
    private var wasWritable = false
    private var lastStatus = ""
    private let manager = getenv("NOTIFY_SOCKET").flatMap { NotifySocket(String(cString: $0)) }

    private struct Written: Equatable {
        var user: String?
        var token: Snapshot.TokenLife
    }

    /// How long to wait before a failed attempt is repeated, if the daemon does not say.
    private static let pause: Duration = .seconds(5)
    /// How long the daemon may take for a token that it has in memory.
    private static let patience: Duration = .seconds(20)

    init(_ file: TokenFile, as format: TokenFormat, options: GlobalOptions) {
        self.file = file
        self.format = format
        self.options = options
    }

    mutating func run() throws {
        let signals = try CaughtSignals(SIGINT, SIGTERM, SIGHUP, SIGQUIT)
        // A caught signal ends the program in `release`, after the file is removed.
        defer { signals.release() }
        defer { end() }
        var feed = SnapshotFeed(from: options.path, patience: .always, unless: signals.interruption)
        var present = try first(&feed)
        while true {
            let again = try follow(present, &feed)
            do throws(JunctionError) {
                present = try feed.next(by: again) { report(Self.unreachable) }.value
            } catch {
                // At the deadline, the same state is tried again.
                guard error.kind == .timedOut else { throw error }
            }
        }
    }

    private static let unreachable = "the daemon cannot be reached"

    /// Waits for the first state of the session. The unit starts also without a daemon, so that a boot does not hang.
    private mutating func first(_ feed: inout SnapshotFeed) throws -> Snapshot {
        if options.timeout != nil {
            return try options.waiting { by throws(JunctionError) in try feed.next(by: by) }.value
        }
        do throws(JunctionError) {
            return try feed.next(by: .after(Self.patience)).value
        } catch {
            guard error.kind == .timedOut else { throw error }
            report(Self.unreachable)
            return try feed.next().value
        }
    }

    /// Writes or removes the file.
    ///
    /// - Returns: when to try again, if that does not wait for a change of the session.
    private mutating func follow(_ session: Snapshot, _ feed: inout SnapshotFeed) throws -> Deadline {
        guard session.storage.isReadable else {
            // The daemon does not know whether a user is signed in. The file stays.
            report("the daemon cannot read the stored session")
            return .never
        }
        guard session.isSignedIn else { return remove("no user is signed in") }
        let isOfOther = written?.user != session.userId
        guard let life = session.accessToken, life.expiresAt > .now else {
            // The file of the same user stays: the daemon renews the token, and then there is a change.
            let status = session.accessToken == nil ? "the session has no token" : "waiting for a valid token"
            var again = Deadline.never
            if isOfOther { again = remove(status) } else { report(status) }
            // If this machine's clock was ahead and is set back, the token is valid without a change of the session.
            return session.accessToken == nil ? again : .after(Self.pause)
        }
        let wanted = Written(user: session.userId, token: life)
        guard written != wanted else {
            report(Self.success(life.expiresAt))
            return .never
        }
        if file.isOwn, isOfOther {
            let again = remove("another user is signed in")
            guard again == .never else { return again }
        }
        do {
            let token = try feed.perform(TokenGet.self, TokenGet.Params(), by: .after(Self.patience))
            try file.replace(with: format.content(token))
            written = wanted
            wasWritable = true
            report(Self.success(token.value.expiresAt), isNews: true)
            return .never
        } catch let error as JunctionError {
            // An earlier process may have left the token of another user.
            if isOfOther, Self.refusals.contains(error.kind) { _ = try? file.remove() }
            return try retry(after: error)
        } catch let failure as CommandFailure {
            if isOfOther { _ = try? file.remove() }
            // A failure may be transient if the file has been writable before.
            guard wasWritable else { throw failure }
            report(failure.what)
            return .after(Self.pause)
        }
    }

    /// The errors after which another attempt would be refused, too.
    private static let refusals: [JunctionError.Kind] = [.permissionDenied, .unsupported, .misconfigured]

    private mutating func retry(after error: JunctionError) throws -> Deadline {
        switch error.kind {
        case .cancelled: throw error
        case let kind where Self.refusals.contains(kind): throw error
        // The next state of the session says what follows.
        case .connectionLost, .notSignedIn, .sessionTerminated:
            report("there is no token: \(error.message)")
            return .never
        default:
            report("there is no token: \(error.message)")
            return .after(error.retryAfter ?? Self.pause)
        }
    }

    /// Removes the file and reports why.
    ///
    /// - Returns: when to try again.
    private mutating func remove(_ status: String) -> Deadline {
        do {
            let isGone = try file.remove()
            written = nil
            report(isGone ? status : "\(status), and the file stays, because this program has not written it")
            return .never
        } catch {
            report("\(status), and \(Self.text(of: error))")
            return .after(Self.pause)
        }
    }

    private mutating func end() {
        do { try file.removeOwn() } catch { report(Self.text(of: error)) }
    }

    private static func text(of error: any Error) -> String { (error as? CommandFailure)?.what ?? "\(error)" }

    private static func success(_ end: Timestamp) -> String { "the token is written, valid until \(end)" }

    /// Reports a status on standard error and to the service manager. With the first one, the unit has started.
    ///
    /// - Parameter isNews: reports the status also if it is the last one.
    private mutating func report(_ status: String, isNews: Bool = false) {
        guard isNews || status != lastStatus else { return }
        _ = manager?.send("\(lastStatus.isEmpty ? "READY=1\n" : "")STATUS=\(status.onOneLine)")
        lastStatus = status
        StandardError.note(status)
    }
}
