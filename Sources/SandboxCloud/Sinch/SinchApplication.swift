import Crypto
import FoundationEssentials
import RegistrationToken

/// The only application that the sandbox's Sinch accepts.
package struct SinchApplication: Sendable {
    let key: String
    let secret: ApplicationSecret
    /// The secret as Base64 text. The legacy scheme signs with this text, not with the decoded bytes.
    let secretText: String

    /// The application of the vendor's published test vectors. Its secret is public, which is harmless because only the
    /// sandbox accepts it.
    package static let published = try! SinchApplication(
        key: "a32e5a8d-f7d8-411c-9645-9038e8dd051d",
        secretText: "ax8hTTQJF0OPXL32r1LHMA=="
    )

    package init(key: String, secretText: String) throws(StartFailure) {
        do {
            secret = try ApplicationSecret(base64: secretText.utf8)
        } catch {
            throw StartFailure(error.description)
        }
        self.key = key
        // A file ends with a line break, which is not part of the signed text.
        self.secretText = secretText.filter { !$0.isWhitespace }
    }

    /// Returns the signature of the legacy scheme: Base64 of the SHA-1 of user, application, sequence and secret.
    func signature(of userId: String, sequence: UInt64) -> String {
        let text = "\(userId)\(key)\(sequence)\(secretText)"
        // The vendor specifies SHA-1. A collision does not help an attacker, because the secret is part of the input.
        return Data(Insecure.SHA1.hash(data: Data(text.utf8))).base64EncodedString()
    }
}
