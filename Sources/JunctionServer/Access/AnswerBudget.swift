/// Decides how many bytes of API answers the daemon keeps: for each user, and for all users together.
///
/// Bytes count from when the daemon keeps them until the caller has read them. The type is pure; `AnswerReservations`
/// carries out its decisions.
struct AnswerBudget {
    /// The most bytes that are kept for one user.
    let perUser: Int
    /// The most bytes that are kept for all users.
    let altogether: Int

    /// A request for space that is not granted yet.
    private struct Reservation {
        let ticket: Int
        let user: UInt32
        let bytes: Int
        /// How many later reservations of other users were granted before this one, although it was the oldest of its user
        /// and fitted into that user's share.
        var passed = 0
    }

    /// A reservation that this many later ones have passed comes before all others.
    static let mostPasses = 8

    private(set) var used = 0
    private var usedByUser: [UInt32: Int] = [:]
    /// The reservations, oldest first.
    private var waiting: [Reservation] = []
    private var lastTicket = 0

    init(perUser: Int, altogether: Int) {
        (self.perUser, self.altogether) = (perUser, altogether)
    }

    func used(by user: UInt32) -> Int { usedByUser[user] ?? 0 }

    /// Returns whether another call may begin for this user.
    ///
    /// A user for whom nothing is kept may begin a call until `2 * altogether` bytes are kept. So other users cannot
    /// lock that user out.
    func mayBegin(for user: UInt32) -> Bool {
        if used(by: user) == 0 { return used < 2 * altogether }
        return used(by: user) < perUser && used < altogether
    }

    /// Counts bytes that the daemon already keeps, even if they do not fit: a short answer never waits for space.
    mutating func keep(_ bytes: Int, for user: UInt32) {
        guard bytes > 0 else { return }
        used += bytes
        usedByUser[user, default: 0] += bytes
    }

    mutating func keepIfRoom(_ bytes: Int, for user: UInt32) -> Bool {
        guard fits(bytes, in: perUser, beside: used(by: user)), fits(bytes, in: altogether, beside: used) else {
            return false
        }
        keep(bytes, for: user)
        return true
    }

    /// Stops counting bytes, because the caller has read them or the daemon no longer keeps them.
    mutating func release(_ bytes: Int, of user: UInt32) {
        guard bytes > 0 else { return }
        used -= bytes
        let left = used(by: user) - bytes
        usedByUser[user] = left == 0 ? nil : left
    }

    /// Adds a reservation and returns its ticket. `grantNext` returns the ticket when the bytes fit.
    mutating func reserve(_ bytes: Int, for user: UInt32) -> Int {
        lastTicket += 1
        waiting.append(Reservation(ticket: lastTicket, user: user, bytes: bytes))
        return lastTicket
    }

    /// Cancels a reservation.
    mutating func withdraw(_ ticket: Int) {
        waiting.removeAll { $0.ticket == ticket }
    }

    /// Chooses a reservation and counts it if it fits. Returns its ticket; `nil` if nothing is granted.
    ///
    /// The candidates are the oldest reservations of each user, if they fit into that user's share. A candidate that
    /// `mostPasses` later ones have passed comes first. Otherwise, the candidate whose user keeps the fewest bytes is
    /// chosen. If the chosen one does not fit into the total of all users, nothing is granted.
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

    /// Returns whether bytes fit. An answer that is longer than the limit fits if nothing else is kept.
    private func fits(_ bytes: Int, in limit: Int, beside used: Int) -> Bool { used == 0 || used + bytes <= limit }
}
