package import JunctionProtocol

/// Receives what callers did, for the log. Called on the event loop.
package protocol ServerObserver: AnyObject, Sendable {
    /// - Parameter peer: nil if the kernel does not provide the peer's credentials, or if the daemon did not ask for
    ///   them because there are too many connections.
    func happened(_ act: CallerAct, by peer: Peer?)
}

/// What a caller did, or what the server refused to a caller.
package enum CallerAct: Hashable, Sendable {
    /// The caller received the access token of this generation.
    case tokenHandedOut(generation: UInt64)
    /// The caller signed a user in, by `session.signIn` or `session.identify`.
    case signedIn
    /// The caller signed the user out, by `session.signOut` or `session.identify`.
    case signedOut
    /// The caller lacks the capability for the method.
    case refused(Method, lacking: Capability)
    /// The daemon refused a sign-in. The message has the reason and the remedy.
    case signInRefused(String)
    /// The service manager got no credential for the peer's unit, or the peer is not the service manager. The name of
    /// the credential is nil if it is not known; the message has the reason.
    case credentialRefused(String?, String)
    /// The server refused a connection: there are too many of the user or altogether, or the kernel does not provide
    /// the peer's credentials.
    case turnedAway
}
