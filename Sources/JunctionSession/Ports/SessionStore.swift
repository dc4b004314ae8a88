/// Where the session is kept over restarts: sealed, durable, one record.
package protocol SessionStore: Sendable {
    /// Where the sealing key comes from: `host+tpm2`, `tpm2`, `host` or `file`.
    var sealedWith: String { get }

    /// Reads the newest authentic record. Called once, before anything else; erases nothing.
    func restore() -> Restoration

    /// Seals and writes a record so that it survives a power cut once this returns. Calls are made one at a time,
    /// in order. It never blocks the caller's thread.
    func write(_ record: SessionRecord, _ secrets: SessionSecrets) async throws(StoreFailure)
}

/// What was found at start. *Absent*, *locked*, *damaged* and *unavailable* are four different things.
package enum Restoration: Sendable {
    case absent
    /// The newest authentic record; `damaged` names losers that went to quarantine, if any, and says what to do.
    case restored(SessionRecord, SessionSecrets, damaged: String?)
    case unreadable(Unreadable)

    /// A record that is present and cannot be read. Nothing was moved that could be the user's only login.
    package struct Unreadable: Hashable, Sendable {
        /// `locked`, `damaged` or `unavailable`.
        package var status: StorageStatus
        /// What happened, to what, what to do.
        package var remedy: String
        /// What the clear header says, when there is one.
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

    /// The clear header of a record: what may be known without the key.
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

/// A record could not be made durable. What was there before is still there.
package struct StoreFailure: Error, Hashable, Sendable {
    /// What happened, to what, what to do: `No space left on device while writing …`.
    package var message: String

    package init(_ message: String) {
        self.message = message
    }
}
