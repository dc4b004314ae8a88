import JunctionSecret
import JunctionSession

import struct Crypto.SHA256
import struct Crypto.SHA256Digest

/// What one-time credentials have brought, each until it is decided what becomes of that, or somebody signs out.
///
/// Such a credential is good once, and what it brings is of use only after a second request: a trouble that passes between
/// the two would otherwise spend it for nothing. The credential itself is not kept.
struct Undecided<Brought: Sendable>: Sendable {
    /// In the order of their last tries.
    private var items: [Item] = []
    private(set) var era = Era(number: 0)

    private struct Item: Sendable {
        var credential: SHA256Digest
        var brought: Brought
        var since: Uptime
    }

    /// The time between two sign-outs.
    struct Era: Equatable, Sendable {
        fileprivate var number: UInt64
    }

    var count: Int { items.count }

    /// Keeps it for this credential's next try.
    ///
    /// - Parameter era: in which its request was begun.
    /// - Returns: whether it is kept: not when there was a sign-out since.
    mutating func keep(_ brought: Brought, of credential: SharedSecret, at now: Moment, since era: Era) -> Bool {
        guard era == self.era else { return false }
        forget(credential)
        items.append(Item(credential: Self.digest(credential), brought: brought, since: now.uptime))
        return true
    }

    /// What this credential brought earlier.
    func brought(by credential: SharedSecret) -> Brought? {
        let digest = Self.digest(credential)
        return items.first { $0.credential == digest }?.brought
    }

    /// It is decided what becomes of it.
    mutating func forget(_ credential: SharedSecret) {
        let digest = Self.digest(credential)
        items.removeAll { $0.credential == digest }
    }

    /// Lets go of those that have waited too long.
    mutating func expire(where isOver: (Brought, _ since: Uptime) -> Bool) -> [Brought] {
        let over = items.filter { isOver($0.brought, $0.since) }.map(\.brought)
        items.removeAll { isOver($0.brought, $0.since) }
        return over
    }

    /// Lets go of the eldest, where there are more than these.
    mutating func dropEldest(beyond most: Int) -> [Brought] {
        let surplus = items.dropLast(most).map(\.brought)
        items.removeFirst(surplus.count)
        return surplus
    }

    /// Somebody signs out: what is under way is not kept, either.
    mutating func signedOut() -> [Brought] {
        defer { (items, era.number) = ([], era.number + 1) }
        return items.map(\.brought)
    }

    private static func digest(_ credential: SharedSecret) -> SHA256Digest {
        var hash = SHA256()
        credential.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize()
    }
}
