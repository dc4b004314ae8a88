package import JunctionSession

/// Replaces a vault that could not be opened, so that the daemon can report the reason instead of failing to start
/// again and again.
package struct UnavailableStore: SessionStore {
    package let sealedWith: String
    private let reason: VaultRefusal

    package init(_ reason: VaultRefusal, sealedWith: String) {
        self.reason = reason
        self.sealedWith = sealedWith
    }

    package func restore() -> Restoration {
        .unreadable(.init(status: .unavailable, remedy: reason.message, header: nil, canSignIn: false))
    }

    package func write(_ record: SessionRecord, _ secrets: SessionSecrets) async throws(StoreFailure) {
        throw StoreFailure(reason.message)
    }
}
