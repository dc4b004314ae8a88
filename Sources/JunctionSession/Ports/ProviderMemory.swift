/// The data that a provider keeps for the installation. It survives sign-outs and restarts and contains no secret.
package protocol ProviderMemory: Sendable {
    /// Uses a sequence up. From now on it is refused, and so is every smaller one of the same subject.
    ///
    /// The function returns when the claim survives a power cut, so no later process repeats a request that is sent
    /// after it. If the disk refuses, this process keeps the claim in memory and continues. If the disk stalls for
    /// `RenewalPolicy.longestWrite`, the function returns, and the claim is made when the disk answers. The function never
    /// blocks the caller's thread.
    ///
    /// - Parameter subject: the unit for which the provider counts sequences.
    func claim(_ sequence: UInt64, of subject: String) async throws(SequenceSpent)

    /// Takes the last claim back, because the sequence was not used: the request never arrived, or was refused. The function returns at
    /// once, and later claims come after it.
    func release(_ sequence: UInt64, of subject: String)

    /// Replaces the one fact that the provider has learned. With nil, none is noted any more.
    ///
    /// The function returns at once. If the disk refuses, this process keeps the fact in memory and continues.
    func note(_ fact: String?)

    /// Returns whether this is the noted fact, also after a restart. It may read the disk, so call it only at a start.
    func isNoted(_ fact: String) -> Bool
}

/// The error for a sequence that is not larger than every used one.
package struct SequenceSpent: Error, Equatable, Sendable {
    package var last: UInt64

    package init(last: UInt64) {
        self.last = last
    }
}

/// The largest used sequence of each subject, and the noted fact, independent of how they are stored.
package struct SequenceList: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package var subject: String
        package var last: UInt64
        /// The value of `last` before the newest claim, for a release. Unknown after a restart.
        var before: UInt64?
        var isReleasable = false

        package init(subject: String, last: UInt64) {
            self.subject = subject
            self.last = last
        }
    }

    /// The largest number of remembered subjects. One device has fewer users, and the file must be bounded.
    package static let capacity = 32

    /// The entries, the least recently used first.
    package private(set) var entries: [Entry]

    package var fact: String?

    /// Takes over stored entries, the least recently used first.
    package init(_ entries: [Entry] = [], fact: String? = nil) {
        self.entries = Array(entries.suffix(Self.capacity))
        self.fact = fact
    }

    package mutating func claim(_ sequence: UInt64, of subject: String) throws(SequenceSpent) {
        let index = entries.firstIndex { $0.subject == subject }
        let last = index.map { entries[$0].last }
        if let last, sequence <= last { throw SequenceSpent(last: last) }
        if let index { entries.remove(at: index) }
        var entry = Entry(subject: subject, last: sequence)
        (entry.before, entry.isReleasable) = (last, true)
        entries.append(entry)
        if entries.count > Self.capacity { entries.removeFirst() }
    }

    /// Takes the last claim back. Returns whether there was such a claim.
    package mutating func release(_ sequence: UInt64, of subject: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.subject == subject }),
            entries[index].last == sequence, entries[index].isReleasable
        else { return false }
        if let before = entries[index].before {
            entries[index] = Entry(subject: subject, last: before)
        } else {
            entries.remove(at: index)
        }
        return true
    }
}
