package import JunctionSecret
package import JunctionSession
import JunctionText
import Synchronization

import struct Crypto.SHA256

/// The bootstrap credentials that were used. Each credential signs in at most once.
///
/// A credential is known by a digest that is bound to this installation. No part of the credential itself is stored.
package struct UsedCredentials: Equatable, Sendable {
    /// How far the daemon has come with a credential.
    package enum Stage: Equatable, Sendable {
        /// The exchange was about to begin. After a crash it is unknown whether the provider received it.
        case begun
        /// An attempt failed, and a later one may succeed. If the provider sent `Retry-After`, the daemon waits until
        /// `notBefore`.
        case unspent(notBefore: WallTime? = nil)
        /// The credential signed a user in, or it can never do so.
        case done

        package var notBefore: WallTime? { if case .unspent(let end) = self { end } else { nil } }
    }

    private struct Entry: Equatable, Sendable {
        var digest: String
        var stage: Stage
    }

    private var entries: [Entry] = []

    /// More than any device gets. The oldest entries are removed first.
    static let mostEntries = 64

    package init() {}

    package func stage(of digest: String) -> Stage? {
        entries.first { $0.digest == digest }?.stage
    }

    package mutating func note(_ stage: Stage, of digest: String) {
        entries.removeAll { $0.digest == digest }
        entries.append(Entry(digest: digest, stage: stage))
        entries.removeFirst(max(0, entries.count - Self.mostEntries))
    }

    /// Records all entries of `later`, in its order.
    mutating func take(over later: UsedCredentials) {
        for entry in later.entries { note(entry.stage, of: entry.digest) }
    }

    var isEmpty: Bool { entries.isEmpty }

    package static func digest(of credential: SharedSecret, installation: String) -> String {
        var hash = SHA256()
        hash.update(data: Array("junctiond credential \(installation)\n".utf8))
        credential.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return Hexadecimal.text(hash.finalize())
    }

    // MARK: The file

    /// Reads the file: for each entry one line with the digest, the stage, and the end of a pause in milliseconds since
    /// 1970. Other lines are skipped.
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
    /// The stage of a credential, nil if it is unknown, or the reason why the file cannot be read.
    package typealias Stage = Result<UsedCredentials.Stage?, FileFault>

    /// Reads the stage of the credential with this digest.
    ///
    /// - Parameter then: called on the vault's own thread.
    package func stage(of digest: String, then: @escaping @Sendable (Stage) -> Void) {
        disk.run { [self] in
            then(store.withLock { store in Result { () throws(FileFault) in try store.stage(of: digest) } })
        }
    }

    /// Stores the stage of a credential. Later writes come after this one.
    ///
    /// If the write fails, the stage is kept in memory and written again with every record. A sign-out is durable only
    /// when the stage is on disk.
    ///
    /// - Parameter done: called on a thread of the vault, with whether the stage is on disk. A disk that stalls counts as one
    ///   that refuses.
    package func note(
        _ stage: UsedCredentials.Stage,
        of digest: String,
        done: @escaping @Sendable (_ isStored: Bool) -> Void
    ) {
        disk.run { [self] in
            store.withLock { (try? $0.note(stage, of: digest)) != nil }
        } then: {
            done($0 ?? false)
        }
    }
}

extension StateFile {
    static let usedCredentials = StateFile("used-credentials")
}
