import JunctionNetworkHelper
import JunctionSecret
import NIOCore
import NIOPosix

/// The connection to one network helper. It sends and receives messages, and wipes its buffers.
final class HelperConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Why the connection receives no more messages.
    enum Ending {
        case gone
        /// The helper sent bytes that are not a frame.
        case unintelligible
    }

    private let eventLoop: any EventLoop
    private weak var link: HelperLink?
    private var reader = FrameReader<HelperMessage>()
    private var channel: (any Channel)?
    /// The process of the helper, if this process started it.
    private var process: HelperProcess?
    /// Messages that were sent before the channel was ready.
    private var unsent: [ByteBuffer] = []
    /// The bytes that the kernel has not taken yet.
    private var queued = 0
    /// The most queued bytes: the windows of 64 uploads. A helper that reads leaves no more than a few messages here.
    private static let mostQueued = 64 * Flow.window
    /// The number of messages that may still arrive about transfers that have ended.
    private var mayCross = 0
    /// The most messages that can be on the way when a transfer is cancelled: a socket's buffer holds no more.
    private static let mostCrossing = 1 << 15
    private static let mostAfterEnd = 8
    private var isClosed = false
    /// Received messages that have not been passed on yet, and the end of the connection.
    ///
    /// A receiver of a message may answer it. If that write meets a closed socket, the channel reads all remaining
    /// bytes and closes before the write returns. This queue keeps the order.
    private var received: [(number: UInt32, message: Result<HelperMessage, FormatFault>)] = []
    private var ending: Ending?
    private var isPassingOn = false
    /// Whether the helper has sent its version.
    var hasSentHello = false
    /// The edition of the settings that this helper has received.
    var settings: Int?

    init(on eventLoop: any EventLoop, for link: HelperLink) {
        (self.eventLoop, self.link) = (eventLoop, link)
    }

    /// Takes ownership of the socket and of the process.
    func open(_ socket: NIOBSDSocket.Handle, of process: HelperProcess?) {
        self.process = process
        let myself = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(myself.value) }
            }
            .withConnectedSocket(socket)
            .whenComplete { outcome in myself.value.opened(outcome) }
    }

    /// - Returns: false if the message is longer than its kind allows.
    @discardableResult
    func send(_ message: DaemonMessage, about transfer: UInt32) -> Bool {
        guard let frame = Frame.encode(message, of: transfer) else { return false }
        guard !isClosed else { return true }
        switch message {
        case .open: mayCross += Self.mostAfterEnd
        case .cancel: mayCross += Self.mostCrossing
        case .hello, .settings, .body, .credit, .end: break
        }
        let bytes = frame.withUnsafeBytes { ByteBuffer(bytes: $0) }
        if let channel { write(bytes, to: channel) } else { unsent.append(bytes) }
        return true
    }

    /// - Parameter patience: how long the helper may still write the reason to the log before it is killed.
    func close(after patience: TimeAmount? = nil) {
        guard !isClosed else { return }
        isClosed = true
        for bytes in unsent { bytes.wipe() }
        unsent = []
        // The helper exits on its own unless it is stopped.
        if let patience, let process {
            eventLoop.scheduleTask(in: patience) { process.end() }
            self.process = nil
        }
        channel?.close(promise: nil)
        endProcess()
    }

    private func endProcess() {
        process?.end()
        process = nil
    }

    private func opened(_ outcome: Result<any Channel, any Error>) {
        guard case .success(let channel) = outcome else {
            close()
            return ended(.gone)
        }
        self.channel = channel
        guard !isClosed else { return channel.close(promise: nil) }
        let before = unsent
        unsent = []
        for bytes in before { write(bytes, to: channel) }
    }

    private func write(_ bytes: ByteBuffer, to channel: any Channel) {
        queued += bytes.readableBytes
        let myself = NIOLoopBound(self, eventLoop: eventLoop)
        // Most messages hold a token. The buffer is wiped when the kernel has it, or when the write has failed.
        channel.writeAndFlush(bytes).whenComplete { _ in
            myself.value.queued -= bytes.readableBytes
            bytes.wipe()
        }
        // The helper grants more, or gets more requests, and does not read.
        if queued > Self.mostQueued { ended(.unintelligible) }
    }

    /// Counts a message about a transfer that has ended. Returns false if the helper cannot have sent it before it
    /// noticed the end.
    func mayCrossEnd() -> Bool {
        mayCross -= 1
        return mayCross >= 0
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        defer { bytes.wipe() }
        // After a fault the start of the next message is unknown.
        guard ending == nil else { return }
        do throws(FormatFault) {
            try bytes.withUnsafeReadableBytes { (bytes) throws(FormatFault) in
                try reader.take(bytes) { received.append(($0, $1)) }
            }
            passOn()
        } catch {
            ended(.unintelligible)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        // The helper has ended, or is of no use without a connection.
        endProcess()
        ended(.gone)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func ended(_ ending: Ending) {
        if self.ending == nil { self.ending = ending }
        passOn()
    }

    /// Passes on the received messages in order, and then the end of the connection.
    private func passOn() {
        guard !isPassingOn else { return }
        isPassingOn = true
        defer { isPassingOn = false }
        while !received.isEmpty {
            let next = received
            received = []
            for (number, message) in next { link?.received(message, about: number, from: self) }
        }
        guard let ending else { return }
        close()
        link?.ended(self, ending)
    }
}

extension ByteBuffer {
    /// Overwrites the readable bytes in place, even if another buffer refers to the same memory.
    ///
    /// Use this only for bytes that are not read again: sent bytes, or received bytes that were copied. The mutating
    /// interface would copy the bytes and wipe the copy.
    func wipe() {
        withUnsafeReadableBytes { bytes in
            JunctionSecret.wipe(UnsafeMutableRawBufferPointer(mutating: bytes))
        }
    }
}
