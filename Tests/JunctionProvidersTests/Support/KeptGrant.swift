import JunctionSecret
import JunctionSession
import Synchronization

/// Keeps the partial grant of one credential from one try to the next, as the record does.
final class KeptGrant: Sendable {
    private let state = Mutex<SharedSecret?>(nil)
    private let isWanted: Bool

    /// - Parameter isWanted: whether anybody still waits for the sign-in when something is kept.
    init(isWanted: Bool = true) {
        self.isWanted = isWanted
    }

    var content: SharedSecret? { state.withLock { $0 } }

    /// For the next try.
    var store: PartialGrantStore {
        PartialGrantStore(found: content) { [self] content in
            state.withLock { $0 = content }
            return isWanted
        }
    }
}
