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
    ///   - awaitsMissing: one that is not there is news when it appears, and watched from then on; for that the folder in which
    ///     it belongs has to be there.
    ///   - changed: called on the event loop, once for however much has happened at a time.
    init(
        of folders: [String],
        awaitingMissing awaitsMissing: Bool = false,
        on loop: any EventLoop,
        changed: @escaping @Sendable () -> Void
    ) throws(SystemFailure) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemFailure("watch \(folders.joined(separator: ", "))", errno: errno) }
        var watches = Watches(descriptor, of: folders, awaitingMissing: awaitsMissing)
        watches.look()
        guard watches.canHear else {
            close(descriptor)
            throw watches.failure
        }
        let listener = Listener(watches, changed)
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

    /// Which folders the kernel watches for us, and which it will when they are there.
    private struct Watches: Sendable {
        private let descriptor: Int32
        private let awaitsMissing: Bool
        private var watched: [Int32: String] = [:]
        private var missing: [String]
        private var hasParents = false
        private(set) var failure = SystemFailure("watch no folder", errno: ENOENT)

        init(_ descriptor: Int32, of folders: [String], awaitingMissing awaitsMissing: Bool) {
            (self.descriptor, self.awaitsMissing, missing) = (descriptor, awaitsMissing, folders)
            guard awaitsMissing else { return }
            let parents = Set(folders.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } })
            for parent in parents {
                let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD)
                if inotify_add_watch(descriptor, parent, events) >= 0 { hasParents = true }
            }
        }

        var canHear: Bool { !watched.isEmpty || hasParents }

        /// Watches those that are there by now.
        ///
        /// - Returns: whether there are any.
        @discardableResult
        mutating func look() -> Bool {
            // A file that is being written is looked at when it is closed, one that is put in place by its name at once.
            let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MASK_ADD)
            let before = missing
            missing = before.filter { folder in
                let number = inotify_add_watch(descriptor, folder, events)
                if number >= 0 {
                    watched[number] = folder
                } else {
                    failure = SystemFailure("watch the folder \(folder)", errno: errno)
                }
                return number < 0
            }
            return missing.count < before.count
        }

        /// - Returns: whether anything has happened in a folder that is watched for itself.
        mutating func heard(_ events: UnsafeRawBufferPointer) -> Bool {
            var isNews = false
            var rest = events[...]
            // inotify(7): which watch, what, a cookie, and how long the name is that follows.
            while rest.count >= 16 {
                let event = UnsafeRawBufferPointer(rebasing: rest)
                let number = event.loadUnaligned(fromByteOffset: 0, as: Int32.self)
                let what = event.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
                let name = event.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
                if what & UInt32(IN_IGNORED) != 0 {
                    // The folder has gone, and may come again.
                    if let folder = watched.removeValue(forKey: number) { missing.append(folder) }
                } else if watched[number] != nil || number < 0 {
                    // Without a number it is that more has happened than the kernel keeps.
                    isNews = true
                }
                rest = rest.dropFirst(16 + Int(name))
            }
            if awaitsMissing, !missing.isEmpty, look() { isNews = true }
            return isNews
        }
    }

    private final class Listener: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let isOver = Atomic(false)
        private let watches: Mutex<Watches>
        private let isNews = Atomic(false)
        private let changed: @Sendable () -> Void

        init(_ watches: Watches, _ changed: @escaping @Sendable () -> Void) {
            self.watches = Mutex(watches)
            self.changed = changed
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let events = unwrapInboundIn(data)
            guard watches.withLock({ watches in events.withUnsafeReadableBytes { watches.heard($0) } }) else { return }
            isNews.store(true, ordering: .relaxed)
        }

        /// What has happened is looked up, and not read from the events.
        func channelReadComplete(context: ChannelHandlerContext) {
            if isNews.exchange(false, ordering: .relaxed) { changed() }
            context.fireChannelReadComplete()
        }

        func channelInactive(context: ChannelHandlerContext) {
            isOver.store(true, ordering: .releasing)
            context.fireChannelInactive()
        }
    }
}
