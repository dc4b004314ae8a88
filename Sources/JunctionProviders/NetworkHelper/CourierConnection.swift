import JunctionCourier
import JunctionSecret
import NIOCore
import NIOPosix

/// The connection to one courier: messages in, messages out, and no copy of them left behind.
final class CourierConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Why a courier says nothing more.
    enum Ending {
        case gone
        /// It sent what is no frame.
        case unintelligible
    }

    private let eventLoop: any EventLoop
    private weak var link: CourierLink?
    private var reader = FrameReader<CourierMessage>()
    private var channel: (any Channel)?
    /// The courier, if this process has started it.
    private var process: CourierProcess?
    /// What was said before the channel was ready.
    private var waiting: [ByteBuffer] = []
    private var isClosed = false
    /// What the courier said that nobody has heard yet, and its end.
    ///
    /// Whoever hears a message may answer it, and when that meets a closed socket the channel reads all that is left and
    /// closes before it returns. So whatever comes waits here until its turn.
    private var unheard: [(number: UInt32, message: Result<CourierMessage, FormatFault>)] = []
    private var ending: Ending?
    private var isPassingOn = false
    /// It has said which version it speaks.
    var isGreeted = false
    /// Which settings this courier has heard.
    var settings: Int?

    init(on eventLoop: any EventLoop, for link: CourierLink) {
        (self.eventLoop, self.link) = (eventLoop, link)
    }

    /// Takes the socket over, and the end of whoever is behind it.
    func open(_ socket: NIOBSDSocket.Handle, of process: CourierProcess?) {
        self.process = process
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
    func tell(_ message: DaemonMessage, about transfer: UInt32) -> Bool {
        guard let frame = Frame.encode(message, of: transfer) else { return false }
        guard !isClosed else { return true }
        let bytes = frame.withUnsafeBytes { ByteBuffer(bytes: $0) }
        if let channel { send(bytes, to: channel) } else { waiting.append(bytes) }
        return true
    }

    /// - Parameter patience: how long it may still say something for the log, about why.
    func close(hearingItOutFor patience: TimeAmount? = nil) {
        guard !isClosed else { return }
        isClosed = true
        for bytes in waiting { bytes.wipe() }
        waiting = []
        // It goes by itself, or somebody has stopped it.
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
        let before = waiting
        waiting = []
        for bytes in before { send(bytes, to: channel) }
    }

    private func send(_ bytes: ByteBuffer, to channel: any Channel) {
        // Most of what is said holds a token: it goes when the kernel has it, or when it never will.
        channel.writeAndFlush(bytes).whenComplete { _ in bytes.wipe() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        defer { bytes.wipe() }
        // Where the next message would begin is not known.
        guard ending == nil else { return }
        do throws(FormatFault) {
            try bytes.withUnsafeReadableBytes { (bytes) throws(FormatFault) in
                try reader.take(bytes) { unheard.append(($0, $1)) }
            }
            passOn()
        } catch {
            ended(.unintelligible)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        // It has ended, or has no business here without a connection.
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

    /// Passes on what was said, in its order, and the end after it.
    private func passOn() {
        guard !isPassingOn else { return }
        isPassingOn = true
        defer { isPassingOn = false }
        while !unheard.isEmpty {
            let next = unheard
            unheard = []
            for (number, message) in next { link?.heard(message, about: number, from: self) }
        }
        guard let ending else { return }
        close()
        link?.ended(self, ending)
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
