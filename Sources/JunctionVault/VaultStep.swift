/// A step of a durable write that has just been completed.
///
/// The creator of the vault can observe the steps. A test uses them to stop the process between two steps.
package enum VaultStep: String, CaseIterable, Sendable {
    /// All bytes are in the temporary file, but perhaps only in the page cache.
    case temporaryWritten
    /// The temporary file survives a power cut.
    case temporarySynced
    /// The record to be replaced could not be verified, and now has a second name in quarantine.
    case predecessorPutAside
    /// The temporary file has the name of the record.
    case renamed
    /// The new name survives a power cut: the record is durable.
    case directorySynced
}
