/// A setting that no provider can work with: what is wrong with it, and what was expected.
///
/// The configuration adds which key it stands under.
package struct ProviderConfigurationFault: Error, Equatable, Sendable {
    /// One line for a person; never what stands in front of an `@` in a URL.
    package var message: String
    /// The service manager's credential that would mend it: no file is named in its place. Where only the service has
    /// credentials, nobody else can tell whether it is missing.
    package var missingCredential: String?

    package init(_ message: String, missingCredential: String? = nil) {
        (self.message, self.missingCredential) = (message, missingCredential)
    }
}
