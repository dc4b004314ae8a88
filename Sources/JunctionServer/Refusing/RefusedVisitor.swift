import JunctionProtocol
import NIOCore
import NIOHTTP1

/// One caller over HTTP of a server that serves nobody: the request is answered with the error, whatever it asks for, and nothing
/// after it is looked at.
final class RefusedVisitor: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let error: () -> WireError
    private var isAnswered = false

    /// - Parameter error: what is the matter at this moment.
    init(error: @escaping () -> WireError) {
        self.error = error
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        answer(context, Problem(error()), toHead: head.method == .HEAD)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let refused = RefusedRequest(parsing: error) else { return context.close(promise: nil) }
        answer(context, Problem(refused.error, status: refused.status), toHead: false)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The answer was handed to the kernel before: it is heard all the same.
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    /// Whoever still sends hears it, too: they are read until they have, or have stayed for too long.
    private func answer(_ context: ChannelHandlerContext, _ problem: Problem, toHead: Bool) {
        guard !isAnswered else { return }
        isAnswered = true
        var (frame, body) = AnswerFrame.telling(problem, toHead: toHead)
        frame.saysClose()
        context.write(Self.wrapOutboundOut(.head(frame.head)), promise: nil)
        if frame.hasBody { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let channel = context.channel
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
        }
    }
}
