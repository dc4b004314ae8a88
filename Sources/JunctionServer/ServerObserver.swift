package import JunctionProtocol

/// Who is told what callers did, for the log. Called on the event loop.
package protocol ServerObserver: AnyObject, Sendable {
    /// The access token of this generation was handed out.
    func handedOutToken(to peer: Peer, generation: UInt64)
    /// A call was refused because the caller lacks the capability.
    func refused(_ method: Method, to peer: Peer, lacking capability: Capability)
    /// A caller signed a user in, by `session.signIn` or `session.identify`.
    func signedIn(by peer: Peer)
    /// The daemon refused a sign-in of a caller for this reason: its credential, or the user who is signed in.
    func refusedSignIn(by peer: Peer, because message: String)
    /// A caller signed the user out, by `session.signOut` or `session.identify`.
    func signedOut(by peer: Peer)
    /// A connection was refused: the user or all users together have too many, or the kernel does not say who it is.
    func turnedAway(_ peer: Peer?)
}
