import Crypto
import FoundationEssentials
import JunctionText

/// Verifies that the client that redeems a code is the one that requested it (RFC 7636, S256).
enum PKCE {
    /// Returns the code challenge of a request. Refuses every method except S256.
    static func challenge(in form: Form) throws(TokenRefusal) -> String? {
        guard let challenge = form["code_challenge"] else { return nil }
        guard form["code_challenge_method"] == "S256", Base64.decode(challenge.utf8, .urlSafe)?.count == 32 else {
            throw TokenError.invalidRequest.because("code_challenge is not one of S256")
        }
        return challenge
    }

    static func require(_ verifier: String?, for challenge: String) throws(TokenRefusal) {
        let digest = SHA256.hash(data: Data((verifier ?? "").utf8))
        guard let verifier, (43...128).contains(verifier.utf8.count), Base64.encodeURLSafe(digest) == challenge else {
            throw TokenError.invalidGrant.because("code_verifier is missing or not the one of code_challenge")
        }
    }
}
