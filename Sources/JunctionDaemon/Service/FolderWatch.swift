import Glibc
import NIOCore
import NIOPosix

/// Watches folders on the event loop until the loop ends, and reports when a file is put into one of them. If a folder
/// does not exist but its parent folder does, the watch reports the new folder and then watches it.
enum FolderWatch {
    /// Throws only if neither a folder nor a parent folder can be watched.
    ///
    /// - Parameter changed: called on the event loop, once for all changes that arrive together.
    static func start(
        of folders: [String],
        on loop: any EventLoop,
        changed: @escaping @Sendable () -> Void
    ) throws(SystemFailure) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemFailure("watch \(folders.joined(separator: ", "))", errno: errno) }
        let parents = Set(folders.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } })
        let appearing = UInt32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD)
        let watchedParents = parents.filter { inotify_add_watch(descriptor, $0, appearing) >= 0 }
        var watches = Watches(descriptor: descriptor, folders: folders)
        watches.add()
        guard !watches.numbers.isEmpty || !watchedParents.isEmpty else {
            let failure = SystemFailure("watch \(folders.joined(separator: ", "))", errno: errno)
            close(descriptor)
            throw failure
        }
        // A buffer of fixed size: a shrinking one could become too small for the next event, and the kernel then
        // refuses the read.
        NIOPipeBootstrap(group: loop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4_096))
            .channelInitializer { [watches] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Listener(watches, changed))
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .whenFailure { _ in close(descriptor) }
    }

    private struct Watches {
        let descriptor: Int32
        let folders: [String]
        private(set) var numbers: Set<Int32> = []

        init(descriptor: Int32, folders: [String]) { (self.descriptor, self.folders) = (descriptor, folders) }

        /// Watches every folder that exists. The kernel returns the same number for a folder that is already watched.
        ///
        /// - Returns: whether a folder has appeared.
        @discardableResult
        mutating func add() -> Bool {
            // A written file counts when it is closed. A renamed file counts at once.
            let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MASK_ADD)
            let before = numbers
            numbers = Set(folders.map { inotify_add_watch(descriptor, $0, events) }.filter { $0 >= 0 })
            return !numbers.isSubset(of: before)
        }

        /// - Returns: whether something was put into a folder, or a folder has appeared.
        mutating func received(_ events: UnsafeRawBufferPointer) -> Bool {
            var isNews = false
            var rest = events[...]
            // inotify(7): watch number, event mask, cookie, length of the name, name.
            while rest.count >= 16 {
                let event = UnsafeRawBufferPointer(rebasing: rest)
                let number = event.loadUnaligned(fromByteOffset: 0, as: Int32.self)
                let what = event.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
                let name = event.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
                // Number -1 means that the kernel's queue has overflowed. `IN_IGNORED` means that the folder was
                // removed.
                if number < 0 || numbers.contains(number) && what & UInt32(IN_IGNORED) == 0 { isNews = true }
                rest = rest.dropFirst(16 + Int(name))
            }
            return add() || isNews
        }
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var watches: Watches
        private var isNews = false
        private let changed: @Sendable () -> Void

        init(_ watches: Watches, _ changed: @escaping @Sendable () -> Void) {
            (self.watches, self.changed) = (watches, changed)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if unwrapInboundIn(data).withUnsafeReadableBytes({ watches.received($0) }) { isNews = true }
        }

        /// The callback reads the folders again: the events only say that something has changed.
        func channelReadComplete(context: ChannelHandlerContext) {
            if isNews {
                isNews = false
                changed()
            }
            context.fireChannelReadComplete()
        }
    }
}
