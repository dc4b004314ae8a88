/// A step of a durable write that has just been taken.
///
/// Whoever builds the vault may listen, which is how a test stops the process between any two of them.
package enum VaultStep: String, CaseIterable, Sendable {
    /// All bytes are in the temporary file, as far as the page cache goes.
    case temporaryWritten
    /// The temporary file survives a power cut.
    case temporarySynced
    /// The record that is about to be replaced could not be verified, and has a second name in quarantine.
    case predecessorPutAside
    /// The temporary file has the name of the record.
    case renamed
    /// The new name survives a power cut: the record is durable.
    case directorySynced
}
