/// A caller of the owner that has not been answered.
struct Waiter {
    var kind: Kind
    var uid: UInt32
    /// The link code of the request.
    var link: Int?
    /// Whether a person has to approve the sign-in.
    var isDevice = false
    var isBootstrap = false
    /// Whether the app was asked for a credential and has answered.
    var hasAnswered = false
    /// Whether the right to the sign-in was withdrawn before it took effect.
    var isWithdrawn = false
    var signOuts = 0

    enum Kind: Hashable {
        case signIn, signOut, renew, token, api
        /// `nil`: no user is to be signed in.
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
