import JunctionSecret
import JunctionSession
import JunctionText
import RegistrationToken

/// The proof to Sinch that the application admits a user. It is checked as far as possible without a request.
enum SinchProof: Sendable {
    /// A registration token and its claims.
    case token(SharedSecret, RegistrationToken)
    /// The legacy scheme: a digest made with the application secret, valid for one sequence.
    case signature(SharedSecret, sequence: UInt64)

    /// The tolerated clock difference in seconds. The service decides; this check only avoids a request that cannot
    /// succeed, so it is generous.
    static let tolerance: Int64 = 300

    /// Checks a token for this user and application against every rule that does not need the secret.
    ///
    /// - Parameter text: the token, or the backend's answer that contains it.
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

    /// Checks that a signature is Base64 of a SHA-1 digest: 28 characters, of which the last is padding.
    init(signature: SharedSecret, sequence: UInt64) throws(CredentialRefused) {
        let isDigest = signature.withUnsafeBytes { text in
            text.count == 28 && text.last == UInt8(ascii: "=")
                && text.dropLast().allSatisfy { $0.isASCIILetterOrDigit || "+/".utf8.contains($0) }
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

    /// Returns the description of the time rule that the proof breaks now, or `nil`.
    func fault(at now: WallTime) -> String? {
        guard case .token(_, let token) = self else { return nil }
        do throws(RegistrationToken.Rule) {
            try token.requireTime(now.milliseconds / 1_000, tolerance: Self.tolerance)
            return nil
        } catch {
            return "The registration token breaks the rule \(error.rawValue): \(error)"
        }
    }
}

extension SinchProof {
    /// When the registration of the token ends, on the clock of the token's issuer.
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
        case .signature: "Sinch refused the registration signature: get a correct one with a larger sequence"
        }
    }
}
