import JunctionSecret
import JunctionSession
import RegistrationToken

/// What proves to Sinch that the application lets a user in, checked as far as it can be without asking anybody.
enum SinchProof: Sendable {
    /// A registration token, and what it says.
    case token(SharedSecret, RegistrationToken)
    /// The legacy scheme: a digest that only whoever knows the application secret could make, good for one sequence.
    case signature(SharedSecret, sequence: UInt64)

    /// By how many seconds the clocks may differ before a token's times are held against it. The service decides; this
    /// only spares a call that cannot succeed, so it is patient.
    static let tolerance: Int64 = 300

    /// A token for this user of this application that keeps every rule which can be checked without the secret.
    ///
    /// - Parameter text: the token, or the backend's answer that holds it.
    init(
        token text: SharedSecret,
        for userId: String,
        of application: SinchApplication
    ) throws(CredentialRefused) {
        let given = try BackendToken(text)
        try given.requireUser(Identity(userId: userId))
        let jwt = given.token
        do throws(RegistrationToken.Rule) {
            let token = try jwt.withUnsafeBytes { (bytes) throws(RegistrationToken.Rule) in
                try RegistrationToken.inspect(bytes)
            }
            try token.requireApplication(application.key)
            try token.requireUser(userId)
            self = .token(jwt, token)
        } catch {
            throw .malformed("The registration token breaks the rule \(error.rawValue): \(error)")
        }
    }

    /// A signature in the form of Base64 of a SHA-1: 28 characters, the last one padding.
    init(signature: SharedSecret, sequence: UInt64) throws(CredentialRefused) {
        let isDigest = signature.withUnsafeBytes { text in
            text.count == 28 && text.last == UInt8(ascii: "=") && text.dropLast().allSatisfy(Self.isDigit)
        }
        guard isDigest else { throw .malformed("The registration signature is not Base64 of a SHA-1 digest") }
        self = .signature(signature, sequence: sequence)
    }

    /// Makes a token with the application's own secret.
    init(signedBy application: SinchApplication, for userId: String, at now: WallTime) throws(CredentialRefused) {
        guard let secret = application.secret else { throw .incomplete(Self.secretIsMissing) }
        do throws(RegistrationToken.Rule) {
            let token = try RegistrationToken(
                applicationKey: application.key,
                userId: userId,
                issuedAt: now.milliseconds / 1_000
            )
            self = .token(SharedSecret(text: token.signed(with: secret)), token)
        } catch {
            throw .malformed("A registration token for this user would break the rule \(error.rawValue): \(error)")
        }
    }

    static let secretIsMissing =
        "Self-signing needs the application secret: set sinch.applicationSecretFile, or hand in a registration token"

    /// The rule of time that the proof breaks now, in words.
    func fault(at now: WallTime) -> String? {
        guard case .token(_, let token) = self else { return nil }
        do throws(RegistrationToken.Rule) {
            try token.requireTime(now.milliseconds / 1_000, tolerance: Self.tolerance)
            return nil
        } catch {
            return "The registration token breaks the rule \(error.rawValue): \(error)"
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
    }
}

extension SinchProof {
    /// When the registration that a token brings ends, on the clock of whoever made it.
    var instanceExpiresAt: WallTime? {
        guard case .token(_, let token) = self else { return nil }
        return token.instanceExpiresAt.map { WallTime(milliseconds: $0 * 1_000) }
    }

    var sequence: UInt64? {
        guard case .signature(_, let sequence) = self else { return nil }
        return sequence
    }

    var refusal: String {
        switch self {
        case .token: "Sinch refused the registration token: get a new one from your backend"
        case .signature: "Sinch refused the registration signature: get one with a larger sequence from your backend"
        }
    }
}
