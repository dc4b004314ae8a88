package import JunctionSecret
import JunctionText
import RegistrationToken

/// The application for which users register with Sinch.
package struct SinchApplication: Sendable {
    let key: String
    /// Needed only for self-signing, which the provider discourages: the holder of the secret can register any user.
    let secret: ApplicationSecret?

    /// Checks the settings of the configuration. The secret is the Base64 text of its file.
    package init(key: String, secret: SharedSecret? = nil) throws(ProviderConfigurationFault) {
        let isKey = { (byte: UInt8) in byte.isVisibleASCII && byte != UInt8(ascii: "/") }
        guard (1...64).contains(key.utf8.count), key.utf8.allSatisfy(isKey) else {
            throw ProviderConfigurationFault(
                "sinch.applicationKey: expected the application key as Sinch's dashboard shows it"
            )
        }
        self.key = key
        do {
            self.secret = try secret?.withUnsafeBytes { (text) throws(ApplicationSecret.Malformed) in
                try ApplicationSecret(base64: text)
            }
        } catch {
            throw ProviderConfigurationFault("sinch.applicationSecretFile: \(error)")
        }
    }
}
