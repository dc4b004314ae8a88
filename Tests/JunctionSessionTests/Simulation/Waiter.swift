/// A caller of the owner that has not been answered.
struct Waiter {
    var kind: Kind
    var uid: UInt32
    /// The link code that was handed in.
    var link: Int?
    /// Its sign-in is to be approved by a person.
    var isDevice = false
    var isBootstrap = false
    /// The app has been asked for a credential, and has answered.
    var hasAnswered = false
    /// The right to the sign-in was withdrawn before it counted.
    var isWithdrawn = false
    var signOuts = 0

    enum Kind: Hashable {
        case signIn, signOut, renew, token, api
        /// Nothing: nobody is to be signed in.
        case identify(String?)

        var name: String? {
            if case .identify(let name) = self { name } else { nil }
        }
    }

    var isSignOut: Bool { kind == .signOut || kind == .identify(nil) }

    var isSignIn: Bool {
        switch kind {
        case .signIn, .identify(.some): true
        case .signOut, .identify(nil), .renew, .token, .api: false
        }
    }
}
