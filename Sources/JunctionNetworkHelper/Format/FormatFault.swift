/// Bytes that neither the daemon nor the network helper of this version sends.
package struct FormatFault: Error, Equatable, Sendable {
    /// A description of the fault for the journal. It never contains the bytes themselves.
    package var what: String

    package init(_ what: String) {
        self.what = what
    }
}
