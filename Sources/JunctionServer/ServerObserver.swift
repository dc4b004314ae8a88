package import JunctionProtocol

/// Receives what callers did, for the log. Called on the event loop.
package protocol ServerObserver: AnyObject, Sendable {
    /// A caller received the access token of this generation.
    func handedOutToken(to peer: Peer, generation: UInt64)
    /// A call was refused because the caller lacks the capability.
    func refused(_ method: Method, to peer: Peer, lacking capability: Capability)
    /// A caller signed a user in, by `session.signIn` or `session.identify`.
    func signedIn(by peer: Peer)
    /// The daemon refused a sign-in of a caller. The message has the reason and the remedy.
    func refusedSignIn(by peer: Peer, because message: String)
    /// A caller signed the user out, by `session.signOut` or `session.identify`.
    func signedOut(by peer: Peer)
    /// The service manager got no credential for the peer's unit, or the peer is not the service manager.
    ///
    /// - Parameter name: the name of the credential, if it is known.
    func refusedCredential(_ name: String?, to peer: Peer, because message: String)
    /// A connection was refused: there are too many of the user or altogether, or the kernel does not provide the
    /// peer's credentials.
    func turnedAway(_ peer: Peer?)
}
