/// Stores the session over restarts: one record, sealed and durable.
package protocol SessionStore: Sendable {
    /// The source of the sealing key: `host+tpm2`, `tpm2`, `host` or `file`.
    var sealedWith: String { get }

    /// Seals and writes a record. The record survives a power cut when this function returns. Calls are made one at a
    /// time, in order. The function never blocks the caller's thread.
    ///
    /// - Parameter unopened: what happens to the records that the daemon could not open.
    func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened: UnopenedRecords
    ) async throws(StoreFailure)
}

/// What a write does with the records that the daemon could not open. A record file that it replaces goes to quarantine,
/// unless they are erased.
package enum UnopenedRecords: Hashable, Sendable {
    /// An update, a rotation or a verdict leaves them as they are.
    case unchanged
    /// A sign-in moves them to quarantine, and they are no longer reported.
    case acknowledged
    /// The withdrawal of a sign-in takes that acknowledgement back.
    case reportedAgain
    /// A sign-out erases them, because no user data may remain.
    case erased
}

/// The result of reading the store at start.
package enum Restoration: Sendable {
    case absent
    /// The newest authentic record. `damaged` names the records that were moved to quarantine, if any, and says what to
    /// do.
    case restored(SessionRecord, SessionSecrets, damaged: String?)
    case unreadable(Unreadable)

    /// A record that exists and cannot be read. The store has not moved any file that could be the user's only login.
    package struct Unreadable: Hashable, Sendable {
        /// `locked`, `damaged` or `unavailable`.
        package var status: StorageStatus
        /// What happened, to what, and what to do.
        package var remedy: String
        /// The content of the clear header, if there is one.
        package var header: Header?
        /// Whether a new sign-in can be sealed and written in its place.
        package var canSignIn: Bool

        package init(status: StorageStatus, remedy: String, header: Header?, canSignIn: Bool) {
            self.status = status
            self.remedy = remedy
            self.header = header
            self.canSignIn = canSignIn
        }
    }

    /// The clear header of a record, which is readable without the key.
    package struct Header: Hashable, Sendable {
        package var generation: UInt64
        package var edition: UInt32
        package var provider: String
        package var scheme: Scheme?
        package var state: SessionState
        package var userId: String?

        package init(
            generation: UInt64,
            edition: UInt32,
            provider: String,
            scheme: Scheme?,
            state: SessionState,
            userId: String?
        ) {
            self.generation = generation
            self.edition = edition
            self.provider = provider
            self.scheme = scheme
            self.state = state
            self.userId = userId
        }
    }
}

/// The error of a record that could not be made durable. After a power cut the disk has this record or the previous one.
package struct StoreFailure: Error, Hashable, Sendable {
    /// What happened, to what, and what to do: `No space left on device while writing …`.
    package var message: String

    package init(_ message: String) {
        self.message = message
    }
}
