import JunctionSystemd

/// The descriptors that the service manager passed: the sockets to serve, and the sealed copies of records that could
/// not be written to disk.
///
/// Each descriptor has one of the two roles from the beginning. So the number of a copy, which is closed after reading,
/// is never used as a socket.
struct PassedDescriptors {
    private(set) var sockets = PassedSockets([])
    /// The sealed copies, in no order.
    private(set) var copies: [[UInt8]] = []
    /// The names of the copies that the service manager holds. It keeps them even if this process ends.
    private(set) var copyNames: Set<String> = []

    /// Creates an empty value: no descriptors were passed.
    init() {}

    /// Takes all passed descriptors. Call it once, before there are other threads.
    static func take() throws(StartFailure) -> PassedDescriptors {
        var passed = PassedDescriptors()
        do throws(PassedSocketError) {
            passed.sockets = try PassedSockets.take()
        } catch {
            throw StartFailure(.cannotCreate, error.description)
        }
        passed.copyNames = Set(passed.sockets.sockets.map(\.name)).intersection(VaultWithDescriptorBackup.names)
        passed.copies = passed.sockets.takeKeptFiles(
            named: VaultWithDescriptorBackup.names,
            atMost: VaultWithDescriptorBackup.largestCopy
        )
        return passed
    }
}
