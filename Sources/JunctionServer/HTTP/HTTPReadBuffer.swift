import NIOCore

/// Keeps the received bytes, and passes only as many to the parser as the connection has asked for.
///
/// The connection reads only when it can use more. But after the peer has ended its output, SwiftNIO reads up to that
/// end in any case, which is as much as the socket can hold. Parsed, this would need many times the memory. Here it
/// stays bytes, and is bounded.
final class HTTPReadBuffer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    enum Portion: Equatable {
        /// Up to the end of a head, or of chunks.
        case lines
        /// At most this many bytes of a body.
        case bytes(UInt64)
        case nothing
    }

    /// The most bytes that are kept: as many as the kernel keeps for a socket by default.
    static let most = 1 << 18
    /// The most bytes that are parsed at a time. Short chunks need many times their size when parsed.
    static let longestPiece = 1 << 13

    private let scheduler: RoundRobinScheduler
    /// Called when the buffer has kept more bytes.
    private let whenKept: () -> Void
    private var context: ChannelHandlerContext?
    private var kept = ByteBuffer()
    private var wanted: Portion?
    private var lines = LineScanner()
    private var isTurnDue = false
    private var hasEnded = false
    private var hasToldEnd = false
    /// Whether the daemon has shut down the input. Surplus bytes are dropped then, and pending answers are still
    /// written.
    var dropsSurplus = false

    init(_ scheduler: RoundRobinScheduler, whenKept: @escaping () -> Void) {
        (self.scheduler, self.whenKept) = (scheduler, whenKept)
    }

    /// The bytes that wait here.
    var held: Int { kept.readableBytes }

    /// Whether no bytes wait here and no more will come.
    var isSpent: Bool { hasEnded && held == 0 }

    /// Whether a line of the present head ended without CR.
    var hasBareLineFeed: Bool { lines.hasBareLineFeed }

    /// Asks for one portion. The connection gets it once, in its turn.
    func ask(for portion: Portion) {
        wanted = portion
        if portion == .nothing { drop() }
        if kept.readableBytes > 0 {
            giveSoon()
        } else if !hasEnded {
            context?.read()
        }
    }

    /// Schedules a turn. Other work is done in between: requests that arrived together are also served one a turn.
    private func giveSoon() {
        guard !isTurnDue else { return }
        isTurnDue = true
        scheduler.add(self)
    }

    private func give() {
        guard let context, let wanted, kept.readableBytes > 0 else { return }
        self.wanted = nil
        guard let piece = next(wanted) else { return }
        context.fireChannelRead(Self.wrapInboundOut(piece))
        context.fireChannelReadComplete()
        tellEnd()
    }

    private func next(_ portion: Portion) -> ByteBuffer? {
        let most = min(kept.readableBytes, Self.longestPiece)
        let count: Int
        switch portion {
        case .lines:
            count = kept.withUnsafeReadableBytes { lines.scan(UnsafeRawBufferPointer(rebasing: $0.prefix(most))) }
        case .bytes(let left): count = min(kept.readableBytes, Int(clamping: left))
        case .nothing: return nil
        }
        let piece = kept.readSlice(length: count)
        if kept.readableBytes == 0 { kept = ByteBuffer() }
        return piece
    }

    private func drop() {
        kept = ByteBuffer()
        tellEnd()
    }

    /// Reports the end of the input after all earlier bytes were passed on.
    private func tellEnd() {
        guard hasEnded, !hasToldEnd, kept.readableBytes == 0 else { return }
        hasToldEnd = true
        context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    // MARK: SwiftNIO events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        kept = ByteBuffer()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard wanted != .nothing else { return }
        var bytes = unwrapInboundIn(data)
        guard kept.readableBytes + bytes.readableBytes <= Self.most else {
            if dropsSurplus { return }
            kept = ByteBuffer()
            // SwiftNIO would not stop reading otherwise.
            return context.close(promise: nil)
        }
        if kept.readableBytes == 0 {
            kept = bytes
        } else {
            kept.discardReadBytes()
            kept.writeBuffer(&bytes)
        }
        if wanted != nil, !isTurnDue { give() }
        whenKept()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // In other cases, the connection asks for each portion.
        if wanted == .nothing, !hasEnded { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        hasEnded = true
        tellEnd()
    }

    func channelInactive(context: ChannelHandlerContext) {
        kept = ByteBuffer()
        context.fireChannelInactive()
    }
}

extension HTTPReadBuffer: RoundRobinClient {
    func resume() {
        isTurnDue = false
        give()
    }
}
