/// Renews the access token now, whatever the schedule says.
package enum SessionRenew: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = Snapshot

    package static let name: StaticString = "session.renew"
    package static let capability: Capability? = .token
    package static let summary = "Renews the access token now, past a postponement or a backoff"
    package static let errors: [ErrorCode] = [
        .notSignedIn, .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .misconfigured,
        .storageUnavailable,
        .tokenExpired, .unsupported,
    ]
}
