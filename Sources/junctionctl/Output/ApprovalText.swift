import JunctionClient
import JunctionProtocol

/// A pending device sign-in in words.
struct ApprovalText {
    private let authorization: Snapshot.Authorization
    private let now: Timestamp

    init(_ authorization: Snapshot.Authorization, now: Timestamp = .now) {
        self.authorization = authorization
        self.now = now
    }

    /// For `status`: the summary, with the code if the caller may know it.
    var summary: String {
        let whatToDo = codes.map { ": enter \($0.user) at \($0.address)" } ?? ""
        return "awaiting approval\(whatToDo), \(timeLeft)"
    }

    /// The instructions for the approval, or nil if the caller may not know the code.
    var instructions: String? {
        codes.map { codes in
            var text = "Open   \(codes.address.onOneLine)\nEnter  \(codes.user.onOneLine)"
            if let complete = authorization.verificationUriComplete {
                text += "\nor open \(complete.revealed().onOneLine)"
            }
            return text
        }
    }

    /// The progress line while this program waits.
    var waiting: String { "waiting for the approval, \(timeLeft); ^C leaves the sign-in running" }

    private var timeLeft: TimeLeft { TimeLeft(until: authorization.expiresAt, from: now) }

    /// The codes are printed at once, so they need not stay secret.
    private var codes: (user: String, address: String)? {
        guard let code = authorization.userCode, let address = authorization.verificationUri else { return nil }
        return (code.revealed(), address)
    }
}
