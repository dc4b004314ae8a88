/// Bytes that no keeper and no courier of this version sends; the connection is given up.
package struct FormatFault: Error, Equatable, Sendable {
    /// What is wrong with them, for the journal; never their content.
    package var what: String

    package init(_ what: String) {
        self.what = what
    }
}
