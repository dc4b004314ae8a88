import Crypto
import FoundationEssentials
import RegistrationToken

/// The one application that the sandbox's Sinch knows.
package struct SinchApplication: Sendable {
    let key: String
    let secret: ApplicationSecret
    /// The secret as the vendor shows it: the legacy scheme signs with the text, not with what it stands for.
    let secretText: String

    /// The application of the vendor's published test vectors. Everybody knows its secret, which is harmless: only
    /// the sandbox believes in it.
    package static let published = try! SinchApplication(
        key: "a32e5a8d-f7d8-411c-9645-9038e8dd051d",
        secretText: "ax8hTTQJF0OPXL32r1LHMA=="
    )

    /// An application by its key and the Base64 text of its secret.
    package init(key: String, secretText: String) throws(StartFailure) {
        do {
            secret = try ApplicationSecret(base64: secretText.utf8)
        } catch {
            throw StartFailure(description: error.description)
        }
        self.key = key
        // A file ends with a line break, which is no part of the text that is signed.
        self.secretText = secretText.filter { !$0.isWhitespace }
    }

    /// What a backend sends for the legacy scheme: Base64 of the SHA-1 of user, application, sequence and secret.
    func signature(of userId: String, sequence: UInt64) -> String {
        let text = "\(userId)\(key)\(sequence)\(secretText)"
        // The vendor's scheme, not our choice; a digest that a collision cannot help with, since the secret is in it.
        return Data(Insecure.SHA1.hash(data: Data(text.utf8))).base64EncodedString()
    }
}
