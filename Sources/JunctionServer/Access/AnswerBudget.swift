/// Decides how many bytes of API answers the daemon keeps: for each user, and for all users together.
///
/// Bytes are counted from when the daemon keeps them until the caller has read them. It is pure; `AnswerAccounts` carries out
/// what it decides.
struct AnswerBudget {
    /// The most bytes that are kept for one user…
    let perUser: Int
    /// …and for all.
    let altogether: Int

    /// What waits for space.
    private struct Reservation {
        let ticket: Int
        let user: UInt32
        let bytes: Int
        /// How many later ones were granted first, although there was space for this one in its user's share.
        var passed = 0
    }

    /// A reservation that so many later ones have passed comes before all others.
    static let mostPasses = 8

    private(set) var used = 0
    private var usedByUser: [UInt32: Int] = [:]
    /// In the order in which they came.
    private var waiting: [Reservation] = []
    private var lastTicket = 0

    init(perUser: Int, altogether: Int) {
        (self.perUser, self.altogether) = (perUser, altogether)
    }

    /// How many bytes are kept for this user.
    func used(by user: UInt32) -> Int { usedByUser[user] ?? 0 }

    /// Whether a further call may begin for this user.
    ///
    /// A user for whom nothing is kept may begin until twice `altogether` is kept: the others cannot lock that user out.
    func mayBegin(for user: UInt32) -> Bool {
        if used(by: user) == 0 { return used < 2 * altogether }
        return used(by: user) < perUser && used < altogether
    }

    /// Counts bytes that are there already, whether they fit or not: a short answer is not made to wait.
    mutating func keep(_ bytes: Int, for user: UInt32) {
        guard bytes > 0 else { return }
        used += bytes
        usedByUser[user, default: 0] += bytes
    }

    /// Counts bytes if they fit now; whether they did.
    mutating func keepIfRoom(_ bytes: Int, for user: UInt32) -> Bool {
        guard fits(bytes, in: perUser, beside: used(by: user)), fits(bytes, in: altogether, beside: used) else {
            return false
        }
        keep(bytes, for: user)
        return true
    }

    /// The caller has read so many bytes, or they are not kept for another reason.
    mutating func release(_ bytes: Int, of user: UInt32) {
        guard bytes > 0 else { return }
        used -= bytes
        let left = used(by: user) - bytes
        usedByUser[user] = left == 0 ? nil : left
    }

    /// Has so many bytes wait for space; `grantNext` returns the ticket when there is.
    mutating func reserve(_ bytes: Int, for user: UInt32) -> Int {
        lastTicket += 1
        waiting.append(Reservation(ticket: lastTicket, user: user, bytes: bytes))
        return lastTicket
    }

    /// Whoever waits with this ticket needs no space any more.
    mutating func withdraw(_ ticket: Int) {
        waiting.removeAll { $0.ticket == ticket }
    }

    /// Chooses a reservation, and counts it if there is space; its ticket.
    ///
    /// Each user's oldest reservation is looked at, unless it does not fit into that user's share. Of these, the one whose user
    /// keeps the least is chosen; but one that `mostPasses` later ones have passed comes first. While there is no space for the
    /// chosen one among all users, nothing is granted.
    mutating func grantNext() -> Int? {
        var seen: Set<UInt32> = []
        let candidates =
            waiting.indices
            .filter { seen.insert(waiting[$0].user).inserted }
            .filter { fits(waiting[$0].bytes, in: perUser, beside: used(by: waiting[$0].user)) }
        let chosen =
            candidates.first { waiting[$0].passed >= Self.mostPasses }
            ?? candidates.min { (used(by: waiting[$0].user), $0) < (used(by: waiting[$1].user), $1) }
        guard let chosen, fits(waiting[chosen].bytes, in: altogether, beside: used) else { return nil }
        for index in candidates where index < chosen { waiting[index].passed += 1 }
        let reservation = waiting.remove(at: chosen)
        keep(reservation.bytes, for: reservation.user)
        return reservation.ticket
    }

    /// One answer that is larger than everything may be may still come when there is nothing else.
    private func fits(_ bytes: Int, in limit: Int, beside used: Int) -> Bool { used == 0 || used + bytes <= limit }
}
