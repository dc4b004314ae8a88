import JunctionSystemd

/// What the service manager passed to this process: the sockets to serve, and the sealed copies of records that the disk refused.
///
/// Each descriptor belongs to one of the two from the beginning: the number of a copy, whose descriptor is closed once it has
/// been read, is never taken for that of a socket.
struct PassedDescriptors {
    private(set) var sockets = PassedSockets([])
    /// The sealed copies, in no order.
    private(set) var copies: [[UInt8]] = []
    /// The names under which the service manager holds copies. It goes on holding them, whatever becomes of this process.
    private(set) var copyNames: Set<String> = []

    /// Nothing was passed.
    init() {}

    /// Takes everything over; to be called once, before there are threads.
    static func take() throws(StartFailure) -> PassedDescriptors {
        var passed = PassedDescriptors()
        do throws(PassedSocketError) {
            passed.sockets = try PassedSockets.take()
        } catch {
            throw StartFailure(.cannotCreate, error.description)
        }
        passed.copyNames = Set(passed.sockets.sockets.map(\.name)).intersection(SafekeepingStore.names)
        passed.copies = passed.sockets.takeKeptFiles(
            named: SafekeepingStore.names,
            atMost: SafekeepingStore.largestCopy
        )
        return passed
    }
}
