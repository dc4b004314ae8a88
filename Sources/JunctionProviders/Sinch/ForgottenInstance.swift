import Synchronization

/// The instance that the service no longer knows. The next registration asks for a new one.
///
/// The value is not stored. After a restart the service reports the instance as unknown once more.
final class ForgottenInstance: Sendable {
    private let id = Mutex<String?>(nil)

    func remember(_ instanceId: String) {
        id.withLock { $0 = instanceId }
    }

    /// Returns the instance, or `nil` if the service no longer knows it.
    func known(_ instanceId: String?) -> String? {
        id.withLock { $0 == instanceId ? nil : instanceId }
    }
}
