import JunctionSession

@testable import JunctionVault

extension SessionRecord {
    /// What a test means that does not say it: a session comes from a sign-in, and a record without a user and without a
    /// pending sign-in comes from a sign-out.
    fileprivate var unopened: UnopenedRecords {
        switch content {
        case .session: .acknowledged
        case .signedOut: generation > 0 && deviceSignIn == nil && partialGrants.isEmpty ? .erased : .unchanged
        case .configured, .terminated: .unchanged
        }
    }
}

extension RecordStore {
    mutating func write(_ record: SessionRecord, _ secrets: SessionSecrets) throws(StoreFailure) {
        try write(record, secrets, unopened: record.unopened)
    }
}

extension Vault {
    func write(_ record: SessionRecord, _ secrets: SessionSecrets) async throws(StoreFailure) {
        try await write(record, secrets, unopened: record.unopened)
    }
}
