import Synchronization

/// The instance that the service has said it does not know, so that the next registration asks for a new one.
///
/// Only this process remembers: after a restart the service says it once more.
final class ForgottenInstance: Sendable {
    private let id = Mutex<String?>(nil)

    func remember(_ instanceId: String) {
        id.withLock { $0 = instanceId }
    }

    /// The instance, unless it is the forgotten one.
    func known(_ instanceId: String?) -> String? {
        id.withLock { $0 == instanceId ? nil : instanceId }
    }
}
