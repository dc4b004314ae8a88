import JunctionSession

@testable import JunctionVault

extension SessionRecord {
    /// What the session does with unopened records when it writes this record as a change of its own: a session is a
    /// sign-in's, and a record of nobody that holds no sign-in is a sign-out's.
    fileprivate var unopened: UnopenedRecords {
        switch content {
        case .session: .acknowledged
        case .signedOut: generation > 0 && approval == nil && partialGrants.isEmpty ? .erased : .unchanged
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
