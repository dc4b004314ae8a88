/// Signs a user in.
package enum SessionSignIn: MethodDefinition {
    package typealias Params = Credential
    package typealias Answer = Snapshot

    package static let name: StaticString = "session.signIn"
    package static let capability: Capability? = .manage
    package static let summary = "Signs a user in; the signed-in user again is a success without a network call"
    package static let errors: [ErrorCode] = [
        .alreadySignedIn, .invalidCredential, .notSignedIn, .sessionTerminated, .providerUnavailable, .misconfigured,
        .incompatibleCredential, .storageUnavailable, .unsupported,
    ]
}
