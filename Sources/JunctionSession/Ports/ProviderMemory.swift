/// What a provider must not forget when a session ends: it belongs to the installation, and survives sign-outs and
/// restarts. Nothing secret goes in.
package protocol ProviderMemory: Sendable {
    /// Uses a sequence up: from now on it is refused, and so is every smaller one of the same subject.
    ///
    /// It returns once that survives a power cut, so a request made after it can never be made again by a process that
    /// does not know. Where the disk refuses, this process remembers and goes on. It never blocks the caller's thread.
    ///
    /// - Parameter subject: whose sequences these are: what the provider counts them by.
    func claim(_ sequence: UInt64, of subject: String) async throws(SequenceSpent)

    /// Takes the last claim back, because the request never arrived: the sequence was not used after all.
    func release(_ sequence: UInt64, of subject: String) async
}

/// A sequence that is not larger than every one that was used before.
package struct SequenceSpent: Error, Equatable, Sendable {
    /// The largest one that was used.
    package var last: UInt64

    package init(last: UInt64) {
        self.last = last
    }
}

/// The largest sequence that was used, for each of a few subjects: the rules, without where it is kept.
package struct SequenceList: Equatable, Sendable {
    /// One subject and its largest sequence.
    package struct Entry: Equatable, Sendable {
        package var subject: String
        package var last: UInt64
        /// What `last` was before the newest claim, which may be taken back; unknown after a restart.
        var before: UInt64?
        var isReleasable = false

        package init(subject: String, last: UInt64) {
            self.subject = subject
            self.last = last
        }
    }

    /// Subjects that are remembered, at the most: one device has fewer users, and a file has an end.
    package static let capacity = 32

    /// The one that was used least recently first.
    package private(set) var entries: [Entry]

    /// Takes what was remembered, the one that was used least recently first.
    package init(_ entries: [Entry] = []) {
        self.entries = Array(entries.suffix(Self.capacity))
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

    /// Says whether there was something to take back.
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
