/// An invalid setting of a provider: the problem, and the expected value.
///
/// The configuration adds the name of the key.
package struct ProviderConfigurationFault: Error, Equatable, Sendable {
    /// One line for a person. It never contains the part of a URL before an `@`.
    package var message: String
    /// The service manager's credential that could replace the missing file. If only the service receives credentials,
    /// another process cannot tell whether it is missing.
    package var missingCredential: String?

    package init(_ message: String, missingCredential: String? = nil) {
        (self.message, self.missingCredential) = (message, missingCredential)
    }

    /// Evaluates the check of a setting's value, and puts the setting's name before the message of a fault.
    static func naming<Value>(
        _ setting: String,
        _ check: @autoclosure () throws(ProviderConfigurationFault) -> Value
    ) throws(ProviderConfigurationFault) -> Value {
        do throws(ProviderConfigurationFault) {
            return try check()
        } catch {
            throw ProviderConfigurationFault("\(setting): \(error.message)")
        }
    }
}
