/// Bytes that no daemon and no network helper of this version sends.
package struct FormatFault: Error, Equatable, Sendable {
    /// What is wrong with them, for the journal; never their content.
    package var what: String

    package init(_ what: String) {
        self.what = what
    }
}
