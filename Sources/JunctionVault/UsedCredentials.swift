package import JunctionSecret
package import JunctionSession
import JunctionText
import Synchronization

import struct Crypto.SHA256

/// Which bootstrap credentials have been used up: each signs in once, and never again.
///
/// A credential is known by a digest that is bound to this installation; nothing of the credential itself is stored.
package struct UsedCredentials: Equatable, Sendable {
    /// How far it has come with a credential.
    package enum Stage: Equatable, Sendable {
        /// It was about to be exchanged: whether it was, nobody can say after a crash.
        case begun
        /// An attempt failed, and a later one may succeed: not before `notBefore`, if the provider said `Retry-After`.
        case unspent(notBefore: WallTime? = nil)
        /// It signed somebody in, or never will.
        case done

        package var notBefore: WallTime? { if case .unspent(let end) = self { end } else { nil } }
    }

    private struct Entry: Equatable, Sendable {
        var digest: String
        var stage: Stage
    }

    private var entries: [Entry] = []

    /// More than any device ever gets; the oldest ones go first.
    static let mostEntries = 64

    package init() {}

    /// How far it has come with the credential of this digest; nil when it was never seen.
    package func stage(of digest: String) -> Stage? {
        entries.first { $0.digest == digest }?.stage
    }

    /// Notes how far it has come.
    package mutating func note(_ stage: Stage, of digest: String) {
        entries.removeAll { $0.digest == digest }
        entries.append(Entry(digest: digest, stage: stage))
        entries.removeFirst(max(0, entries.count - Self.mostEntries))
    }

    /// Notes everything that `later` knows, in its order.
    mutating func take(over later: UsedCredentials) {
        for entry in later.entries { note(entry.stage, of: entry.digest) }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The digest of a credential at this installation.
    package static func digest(of credential: SharedSecret, installation: String) -> String {
        var hash = SHA256()
        hash.update(data: Array("junctiond credential \(installation)\n".utf8))
        credential.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Hexadecimal.text(hash.finalize())
    }

    // MARK: The file

    /// One line an entry: the digest, the stage, and the end of a pause in milliseconds since 1970. The reader skips any other
    /// line.
    init(parsing bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard let digest = words.first, digest.utf8.count == 64, let stage = Stage(words.dropFirst()) else {
                continue
            }
            note(stage, of: digest)
        }
    }

    var text: [UInt8] {
        entries.flatMap { Array("\($0.digest) \($0.stage.text)\n".utf8) }
    }

    static let largestFile = mostEntries * 100
}

extension UsedCredentials.Stage {
    fileprivate init?(_ words: ArraySlice<String>) {
        switch (words.first, words.dropFirst().first.map { Int64($0) }, words.count) {
        case ("begun", nil, 1): self = .begun
        case ("unspent", nil, 1): self = .unspent()
        case ("unspent", let end??, 2): self = .unspent(notBefore: WallTime(milliseconds: end))
        case ("done", nil, 1): self = .done
        default: return nil
        }
    }

    fileprivate var text: String {
        switch self {
        case .begun: "begun"
        case .unspent(nil): "unspent"
        case .unspent(let end?): "unspent \(end.milliseconds)"
        case .done: "done"
        }
    }
}

extension Vault {
    /// How far it has come with a credential; nil when it was never seen. A fault when that cannot be known.
    package typealias Stage = Result<UsedCredentials.Stage?, FileFault>

    /// Reads how far it has come with the credential of this digest.
    ///
    /// - Parameter then: called on the vault's own thread.
    package func stage(of digest: String, then: @escaping @Sendable (Stage) -> Void) {
        onQueue { [self] _ in
            then(store.withLock { store in Result { () throws(FileFault) in try store.stage(of: digest) } })
        }
    }

    /// Notes how far it has come. What is written after this call is on disk after it.
    ///
    /// What the disk refuses is remembered, and tried again with every record that is written: a sign-out counts as
    /// durable only when it is there.
    ///
    /// - Parameter done: told whether the disk took it, on the vault's own thread.
    package func note(
        _ stage: UsedCredentials.Stage,
        of digest: String,
        done: @escaping @Sendable (_ isStored: Bool) -> Void
    ) {
        onQueue { [self] _ in
            let isStored = store.withLock { (try? $0.note(stage, of: digest)) != nil }
            done(isStored)
        }
    }
}

extension StateFile {
    /// Which bootstrap credentials were used up.
    static let usedCredentials = StateFile("used-credentials")
}
