/// A setting that no provider can work with: what is wrong with it, and what was expected.
///
/// The configuration adds which key it stands under.
package struct ProviderConfigurationFault: Error, Equatable, Sendable {
    /// One line for a person; never what stands in front of an `@` in a URL.
    package var message: String

    package init(_ message: String) {
        self.message = message
    }
}
