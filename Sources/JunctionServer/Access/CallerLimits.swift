import NIOCore

/// How much of the daemon one local user may take up.
package struct CallerLimits: Equatable, Sendable {
    /// Open connections.
    package var connections: Int
    /// The same for all users together. A connection past this is closed at once.
    package var connectionsOfAll: Int
    /// Requests that are not answered yet.
    package var inFlight: Int
    /// Bytes that are kept for the user's connections: lines that have not ended or cannot be handled yet, and answers that
    /// nobody reads, without the bodies of API answers.
    package var held: Int
    /// Bytes of the requests that are not answered yet. It is passed by no more than one line.
    package var accepted: Int
    /// Calls of the API that are under way, over both sockets, from the request to the end of the answer, which may be long in
    /// coming: a quarter of what is carried for apps at a time, so that no user takes all transfers from the others.
    package var calls: Int
    /// Bytes of answers to `api.request` that are kept until they are read: twice the longest body.
    package var answers: Int
    /// The same for all users together.
    package var answersOfAll: Int

    /// Sets limits; what is left out is as the interface says.
    package init(
        connections: Int = 512,
        connectionsOfAll: Int = .max,
        inFlight: Int = 1_024,
        held: Int = 32 << 20,
        accepted: Int = 32 << 20,
        calls: Int = 48,
        answers: Int = 16 << 20,
        answersOfAll: Int = 48 << 20
    ) {
        self.connections = connections
        self.connectionsOfAll = connectionsOfAll
        self.inFlight = inFlight
        self.held = held
        self.accepted = accepted
        self.calls = calls
        self.answers = answers
        self.answersOfAll = answersOfAll
    }

    /// Connections over the limit that are kept open for a moment, so that they can read why they are refused. Past
    /// this they are closed at once: refusing must not cost more than serving.
    static let refusedConnections = 16

    /// The most bytes of one line of a caller to whom no capability is granted: such a caller must not make the daemon keep
    /// much (100 lines of a mebibyte were 70 MB).
    package static let longestLineWithoutRights = 1 << 12
}

/// What one local user takes up now, over all connections.
final class CallerAccount {
    let user: UInt32
    var connections = 0
    var refusedConnections = 0
    /// Requests that are not answered yet…
    var inFlight = 0
    /// …and their bytes. They stay when the connection goes: what was asked for is carried out. So it is not a connection that
    /// goes when they are too many, but the next request that is refused.
    var accepted = 0
    /// Calls of the API that are under way.
    var calls = 0
    var held = 0
    /// The connections that keep more than they have to.
    var holders: [ObjectIdentifier: any CallerConnection] = [:]
    var isReliefDue = false

    init(user: UInt32) {
        self.user = user
    }

    var isIdle: Bool { connections == 0 && refusedConnections == 0 && inFlight == 0 && calls == 0 && held == 0 }

    /// What one connection keeps, and how long nothing of that has moved.
    struct Burden: Comparable {
        var bytes: Int
        var rest: TimeAmount

        /// Bytes times time: who has kept the most for the longest is the heaviest, and who reads right now weighs nothing.
        private var weight: Double { Double(bytes) * Double(rest.nanoseconds) }

        static func < (one: Self, other: Self) -> Bool { (one.weight, one.bytes) < (other.weight, other.bytes) }
    }

    /// The connections to be closed, so that the account is within its limit: the heaviest first, and no more than it takes.
    func connectionsToClose(over limit: Int, at now: NIODeadline) -> [any CallerConnection] {
        let burdens = holders.values.map { (connection: $0, burden: $0.burden(at: now)) }
        // Whoever was asked may have found that less is kept than was thought.
        var excess = held - limit
        return
            burdens
            .sorted { $0.burden > $1.burden }
            .prefix { holder in
                defer { excess -= holder.burden.bytes }
                return excess > 0
            }
            .map(\.connection)
    }
}

/// The accounts of everybody who is connected.
struct CallerAccounts {
    private var accounts: [UInt32: CallerAccount] = [:]

    mutating func account(of user: UInt32) -> CallerAccount {
        if let account = accounts[user] { return account }
        let account = CallerAccount(user: user)
        accounts[user] = account
        return account
    }

    /// Forgets an account that nothing is left in, so that the table does not grow with every user ever seen.
    mutating func settle(_ account: CallerAccount) {
        if account.isIdle { accounts[account.user] = nil }
    }
}
