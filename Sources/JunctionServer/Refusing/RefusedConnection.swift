import JunctionProtocol
import NIOCore

/// One caller of a server that serves nobody: each request is answered with the error, and nothing is looked at but its id.
final class RefusedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let error: () -> WireError
    private var splitter = LineSplitter(limit: RefusedConnection.longestLine)
    private var reader = MessageReader()
    private var received = ByteBuffer()

    /// What is asked of a daemon that serves nobody is short; a longer line is not read to its end.
    private static let longestLine = 1 << 16

    /// - Parameter error: what is the matter at this moment.
    init(error: @escaping () -> WireError) {
        self.error = error
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        answer(context, atEnd: false)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { answer(context, atEnd: true) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ context: ChannelHandlerContext, atEnd: Bool) {
        var answers = ByteBuffer()
        var isOver = atEnd
        var start = 0
        received.withUnsafeReadableBytes { bytes in
            while let line = splitter.nextLine(in: bytes, from: &start, atEnd: atEnd) {
                switch line {
                case .complete(let range):
                    refuse(UnsafeRawBufferPointer(rebasing: bytes[range]), &answers)
                case .tooLong:
                    put(error(), for: .null, &answers)
                    isOver = true
                }
            }
        }
        received.moveReaderIndex(forwardBy: start)
        received.discardReadBytes()
        // Who does not read what it is told need not be told more.
        guard context.channel.isWritable else { return context.close(promise: nil) }
        guard isOver else { return context.writeAndFlush(wrapOutboundOut(answers), promise: nil) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(answers)).whenComplete { _ in channel.close(promise: nil) }
    }

    private func refuse(_ line: UnsafeRawBufferPointer, _ answers: inout ByteBuffer) {
        switch reader.read(line) {
        case .single(let message): refuse(message, &answers)
        case .batch: put(error(), for: .null, &answers)
        }
        reader.forget()
    }

    private func refuse(_ message: Message, _ answers: inout ByteBuffer) {
        switch message {
        case .request(_, let id): put(error(), for: id, &answers)
        case .invalid(let error, let id): put(error, for: id, &answers)
        case .notification, .answer: break
        }
    }

    private func put(_ error: WireError, for id: RequestID, _ answers: inout ByteBuffer) {
        answers.appendError(error, for: id)
        answers.writeString("\n")
    }
}
