import JunctionSecret
import JunctionSession
import Synchronization

/// A store for the partial grant of one credential, as in the record.
final class KeptGrant: Sendable {
    private let state = Mutex<SharedSecret?>(nil)
    private let isWanted: Bool

    /// - Parameter isWanted: whether a caller still waits for the sign-in when a grant is stored.
    init(isWanted: Bool = true) {
        self.isWanted = isWanted
    }

    var content: SharedSecret? { state.withLock { $0 } }

    /// The store for the next attempt.
    var store: PartialGrantStore {
        PartialGrantStore(found: content) { [self] content in
            state.withLock { $0 = content }
            return isWanted
        }
    }
}
