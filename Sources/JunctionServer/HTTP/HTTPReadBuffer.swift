import NIOCore

/// Keeps what a program has sent as it came, and hands the parser no more of it than the connection has asked for.
///
/// The connection reads only where there is a use for more. But once the other side ends its sending, the library reads on to that
/// end whether anybody asked or not, and that is as much as a program could put into its socket: parsed, it would be many times
/// as much. Here it stays bytes, and bounded.
final class HTTPReadBuffer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// What is asked for next.
    enum Portion: Equatable {
        /// Up to the end of a head, or of chunks.
        case lines
        /// So much of a body at most.
        case bytes(UInt64)
        /// All the rest, to be dropped.
        case nothing
    }

    /// As much as the kernel keeps for a program that has not asked it to keep more.
    static let most = 1 << 18
    /// What is parsed at a time: of short chunks it becomes many times as much.
    static let longestPiece = 1 << 13

    private let turns: Turns
    /// It has kept more.
    private let whenKept: () -> Void
    private var context: ChannelHandlerContext?
    private var kept = ByteBuffer()
    private var wanted: Portion?
    private var lines = LineScanner()
    private var isTurnDue = false
    private var hasEnded = false
    private var hasToldEnd = false
    /// The daemon has ended the sending: what it does not keep is dropped, and the answers under way are still written.
    var dropsSurplus = false

    init(_ turns: Turns, whenKept: @escaping () -> Void) {
        (self.turns, self.whenKept) = (turns, whenKept)
    }

    /// How many bytes wait here.
    var held: Int { kept.readableBytes }

    /// Whether nothing waits here, and nothing more comes.
    var isSpent: Bool { hasEnded && held == 0 }

    /// Whether a line of the present head ended without CR.
    var hasBareLineFeed: Bool { lines.hasBareLineFeed }

    /// The connection has a use for this: it gets it when it is its turn, and once.
    func ask(for portion: Portion) {
        wanted = portion
        if portion == .nothing { drop() }
        if kept.readableBytes > 0 {
            giveSoon()
        } else if !hasEnded {
            context?.read()
        }
    }

    /// Whatever else is to be done is done in between: also requests that came together are served one in a turn.
    private func giveSoon() {
        guard !isTurnDue else { return }
        isTurnDue = true
        turns.add(self)
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

    /// The end is told when all that came before it has been.
    private func tellEnd() {
        guard hasEnded, !hasToldEnd, kept.readableBytes == 0 else { return }
        hasToldEnd = true
        context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    // MARK: What comes

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
            // Nothing else keeps the library from reading on.
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
        // What it gets is told piece by piece.
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

extension HTTPReadBuffer: TurnTaker {
    func goOn() {
        isTurnDue = false
        give()
    }
}
