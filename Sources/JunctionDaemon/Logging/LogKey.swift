import JunctionSystemd
package import Logging

/// The keys of all values that a log line may have. In the journal `peerUnit` is `JUNCTIOND_PEER_UNIT`.
package enum LogKey: String, Sendable, CaseIterable {
    case capability
    case cause
    case code
    case configuration
    case count
    case credential
    case durable
    case ends
    case error
    case generation
    case host
    case lasted
    case method
    case nextAttempt
    case outcome
    case peerPid
    case peerUid
    case peerUnit
    case phase
    case pid
    case previousState
    case provider
    case revision
    case settings
    case socket
    case state
    case stateDirectory
    case storage
    case userId
    case version
}

/// The kinds of events that have their own `MESSAGE_ID` in the journal, so that a user can search for them.
package enum LoggedEvent: String, Sendable, CaseIterable {
    case started = "62cad75fe7f24461988cab9a9b99ef3f"
    case stopping = "28349b7f2e1d47e3ac926e765a5034ac"
    case reloaded = "1ea2f77c6032493797c7584b6ec24633"
    case stateChanged = "d1656b760ae844c1a25b090826069123"
    case signedIn = "7c90c2397e014e1fbb542eb03a2f7892"
    case signInFailed = "8c1f5f0e2b7d4f6c9a3e51d7c0b24e96"
    case signedOut = "35b21efa753840a69b10a84d8bbd2efb"
    case tokenServed = "3bb2f0973b5b41f5aad267af8ae68d51"
    case refused = "4e6f795322ce4f33859c2e1348392a37"
    case renewalFailed = "b173b8cdf5f34da3964a39bf381ef8da"
    case renewalsResumed = "2ab17f9bbdc049149029f3b32ea22355"
    case durableAgain = "0e0c1be4a1f34c0f8d9c6c1e0a3f4b57"
    case notDurable = "6b7f13f553674ee5b98fd5d77c38edfb"
}

extension Logger.Metadata {
    /// Returns the metadata of one line.
    package static func of(
        _ event: LoggedEvent? = nil,
        _ values: [LogKey: Logger.MetadataValue] = [:]
    ) -> Logger.Metadata {
        var metadata = Logger.Metadata(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
        if let event { metadata[JournalEntry.messageIdentifierKey] = .string(event.rawValue) }
        return metadata
    }
}
