import JunctionSecret
import JunctionSession
import JunctionText

/// A login at social.plus: a user id that the app chooses and, in secure mode, an auth token.
struct UserLogin: Sendable {
    let userId: String
    let displayName: String?
    let authToken: SharedSecret?

    init(userId: String, displayName: String?, authToken: SharedSecret?) throws(CredentialRefused) {
        guard Self.isPrintable(userId, upTo: 50) else {
            throw .malformed("The user id must have 1 to 50 printable characters")
        }
        guard displayName.map({ Self.isPrintable($0, upTo: 100) }) ?? true else {
            throw .malformed("The display name must have 1 to 100 printable characters")
        }
        let given = try authToken.map(BackendToken.init)
        guard given.map({ Self.isAuthToken($0.token) }) ?? true else {
            throw .malformed("The auth token must have 1 to 100 printable ASCII characters, without spaces")
        }
        self.userId = userId
        self.displayName = displayName
        self.authToken = given?.token
        try given?.requireUser(identity)
    }

    var identity: Identity { Identity(userId: userId) }

    /// Returns whether this may be a token of the provider's authentication endpoint.
    static func isAuthToken(_ token: SharedSecret) -> Bool {
        (1...100).contains(token.count)
            && token.withUnsafeBytes { $0.allSatisfy(\.isVisibleASCII) }
    }

    private static func isPrintable(_ text: String, upTo longest: Int) -> Bool {
        (1...longest).contains(text.unicodeScalars.count) && text.unicodeScalars.allSatisfy(isPrintable)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
