import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Hears of files that are put into folders, on the event loop.
final class FolderWatch: Sendable {
    private let channel: EventLoopFuture<any Channel>
    private let listener: Listener

    /// - Parameters:
    ///   - folders: one that cannot be watched is a failure, unless another one can.
    ///   - changed: called on the event loop, once for however much has happened at a time.
    init(of folders: [String], on loop: any EventLoop, changed: @escaping @Sendable () -> Void) throws(SystemFailure) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemFailure("watch \(folders.joined(separator: ", "))", errno: errno) }
        // A file that is being written is looked at when it is closed, one that is put in place by its name at once.
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO)
        var failure = SystemFailure("watch no folder", errno: ENOENT)
        let watched = folders.filter { folder in
            if inotify_add_watch(descriptor, folder, events) >= 0 { return true }
            failure = SystemFailure("watch the folder \(folder)", errno: errno)
            return false
        }
        guard !watched.isEmpty else {
            close(descriptor)
            throw failure
        }
        let listener = Listener(changed)
        self.listener = listener
        // A shrinking buffer would become too small for the next event, which the kernel then refuses to hand out.
        channel = NIOPipeBootstrap(group: loop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4_096))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(listener)
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
        channel.whenFailure { _ in close(descriptor) }
    }

    deinit {
        // A loop that has ended has closed its channels, and takes no work any more.
        if listener.isOver.load(ordering: .acquiring) { return }
        channel.whenSuccess { $0.close(promise: nil) }
    }

    private final class Listener: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let isOver = Atomic(false)
        private let changed: @Sendable () -> Void

        init(_ changed: @escaping @Sendable () -> Void) {
            self.changed = changed
        }

        /// What has happened is looked up, and not read from the events.
        func channelReadComplete(context: ChannelHandlerContext) {
            changed()
            context.fireChannelReadComplete()
        }

        func channelInactive(context: ChannelHandlerContext) {
            isOver.store(true, ordering: .releasing)
            context.fireChannelInactive()
        }
    }
}
