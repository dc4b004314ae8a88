import NIOCore

/// The limits of each local user, and two of all users together, with the documented defaults.
package struct CallerLimits: Equatable, Sendable {
    package var connections = 512
    /// Open connections of all users together. The daemon closes a connection above this limit at once.
    package var connectionsOfAll = Int.max
    /// Requests that are not answered yet.
    package var inFlight = 1_024
    /// Bytes that are kept for the user's connections: unfinished lines, lines that cannot be handled yet, and answers
    /// that the peers do not read. Over HTTP, bodies are included. Over JSON-RPC, `answers` limits the bodies of API
    /// answers.
    package var held = 32 << 20
    /// Bytes of the requests that are not answered yet. The last accepted line may exceed the limit.
    package var accepted = 32 << 20
    /// API calls in progress over both sockets, from the request to the end of the answer. The default is less than a
    /// fifth of the requests that a network helper carries at a time, so that one user cannot take all of them.
    package var calls = 48
    /// Bytes of answers to `api.request` that are kept until the caller has read them. The default is twice the longest
    /// body.
    package var answers = 16 << 20
    /// Bytes of such answers for all users together.
    package var answersOfAll = 48 << 20

    package init() {}

    /// Connections over the limit that stay open for a moment, so that the caller can read the reason. The daemon
    /// closes any further ones at once: refusing a connection must not cost more than serving it.
    static let refusedConnections = 16

    /// Sign-outs above the limit of requests that are not answered yet.
    static let signOuts = 16

    /// The longest line, in bytes, of a caller without any capability. Such a caller must not make the daemon keep much
    /// memory (100 lines of 1 MiB took 70 MB).
    package static let longestLineWithoutRights = 1 << 12
}

/// What one local user uses now, over all connections.
final class CallerAccount {
    let user: UInt32
    var connections = 0
    var refusedConnections = 0
    /// Requests that are not answered yet.
    var inFlight = 0
    /// The bytes of the unanswered requests. They stay charged when a connection closes, because the daemon still
    /// carries out the requests. So above this limit the daemon refuses the next request; it does not close a
    /// connection.
    var accepted = 0
    var calls = 0
    var held = 0
    /// The connections that keep more than they need to.
    var holders: [ObjectIdentifier: any CallerConnection] = [:]
    var isEnforcementDue = false

    init(user: UInt32) {
        self.user = user
    }

    var isIdle: Bool { connections == 0 && refusedConnections == 0 && inFlight == 0 && calls == 0 && held == 0 }

    /// The bytes that the daemon buffers for one connection, and the time since they changed or the peer read.
    struct BufferedData: Comparable {
        var bytes: Int
        var rest: TimeAmount

        /// Bytes times time. The connection that has kept the most bytes for the longest time weighs most. A peer that
        /// has just read weighs nothing.
        private var weight: Double { Double(bytes) * Double(rest.nanoseconds) }

        static func < (one: Self, other: Self) -> Bool { (one.weight, one.bytes) < (other.weight, other.bytes) }
    }

    /// Returns the connections to close so that the account is within its limit: the heaviest first, and as few as
    /// possible.
    func connectionsToClose(over limit: Int, at now: NIODeadline) -> [any CallerConnection] {
        let buffers = holders.values.map { (connection: $0, bufferedData: $0.bufferedData(at: now)) }
        // `bufferedData` may have updated `held`, so `held` is read after it.
        var excess = held - limit
        return
            buffers
            .sorted { $0.bufferedData > $1.bufferedData }
            .prefix { holder in
                defer { excess -= holder.bufferedData.bytes }
                return excess > 0
            }
            .map(\.connection)
    }
}
