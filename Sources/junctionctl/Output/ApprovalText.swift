import JunctionProtocol

/// A sign-in that a person has yet to approve, in words.
struct ApprovalText {
    private let authorization: Snapshot.Authorization
    private let now: Timestamp

    init(_ authorization: Snapshot.Authorization, now: Timestamp = .now) {
        self.authorization = authorization
        self.now = now
    }

    /// For somebody who asks what is going on: with the code, if they may know it.
    var summary: String {
        let whatToDo = codes.map { ": enter \($0.user) at \($0.address)" } ?? ""
        return "awaiting approval\(whatToDo), \(timeLeft)"
    }

    /// For whoever approves it; nothing for those who may not.
    var instructions: String? {
        codes.map { codes in
            var text = "Open   \(codes.address.onOneLine)\nEnter  \(codes.user.onOneLine)"
            if let complete = authorization.verificationUriComplete {
                text += "\nor open \(complete.revealed().onOneLine)"
            }
            return text
        }
    }

    /// For whoever waits.
    var waiting: String { "waiting for the approval, \(timeLeft); ^C leaves the sign-in running" }

    private var timeLeft: TimeLeft { TimeLeft(until: authorization.expiresAt, from: now) }

    /// They are on the screen in the next moment, so they may be text here.
    private var codes: (user: String, address: String)? {
        guard let code = authorization.userCode, let address = authorization.verificationUri else { return nil }
        return (code.revealed(), address)
    }
}
