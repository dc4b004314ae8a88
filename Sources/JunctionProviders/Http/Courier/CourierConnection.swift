import JunctionCourier
import JunctionSecret
import NIOCore
import NIOPosix

/// The connection to one courier: messages in, messages out, and no copy of them left behind.
final class CourierConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let eventLoop: any EventLoop
    private weak var link: CourierLink?
    private var reader = FrameReader<CourierMessage>()
    private var channel: (any Channel)?
    /// What was said before the channel was ready.
    private var waiting: [ByteBuffer] = []
    private var isClosed = false
    /// Which settings this courier has heard.
    var settings: Int?

    /// Takes the socket over.
    init(_ socket: NIOBSDSocket.Handle, on eventLoop: any EventLoop, for link: CourierLink) {
        (self.eventLoop, self.link) = (eventLoop, link)
        let myself = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(myself.value) }
            }
            .withConnectedSocket(socket)
            .whenComplete { outcome in myself.value.opened(outcome) }
    }

    /// - Returns: whether the message is short enough for the courier to take it.
    @discardableResult
    func tell(_ message: KeeperMessage, about transfer: UInt32) -> Bool {
        guard let frame = Frame.encode(message, of: transfer) else { return false }
        guard !isClosed else { return true }
        let bytes = frame.withUnsafeBytes { ByteBuffer(bytes: $0) }
        if let channel { send(bytes, to: channel) } else { waiting.append(bytes) }
        return true
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        for bytes in waiting { bytes.wipe() }
        waiting = []
        channel?.close(promise: nil)
    }

    private func opened(_ outcome: Result<any Channel, any Error>) {
        guard case .success(let channel) = outcome else {
            close()
            link?.ended(self)
            return
        }
        self.channel = channel
        guard !isClosed else { return channel.close(promise: nil) }
        for bytes in waiting { send(bytes, to: channel) }
        waiting = []
    }

    private func send(_ bytes: ByteBuffer, to channel: any Channel) {
        // Most of what is said holds a token: it goes when the kernel has it, or when it never will.
        channel.writeAndFlush(bytes).whenComplete { _ in bytes.wipe() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        defer { bytes.wipe() }
        do throws(FormatFault) {
            try bytes.withUnsafeReadableBytes { (bytes) throws(FormatFault) in
                try reader.take(bytes) { link?.heard($1, about: $0, from: self) }
            }
        } catch {
            // What was said so far counts; nothing after it can be read.
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        link?.ended(self)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension ByteBuffer {
    /// Overwrites the readable bytes where they lie, whoever else refers to the same memory.
    ///
    /// Only for bytes that nobody will read again: what was sent, or received and copied. Going through
    /// the mutating interface instead would copy them first and wipe the copy.
    func wipe() {
        withUnsafeReadableBytes { bytes in
            JunctionSecret.wipe(UnsafeMutableRawBufferPointer(mutating: bytes))
        }
    }
}
