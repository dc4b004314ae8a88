import NIOCore
import NIOHTTP1

extension ChannelPipeline.SynchronousOperations {
    /// Adds SwiftNIO's HTTP parser and encoder, with strict limits.
    ///
    /// - Parameter readBuffer: keeps received bytes until the connection asks for them.
    func addHTTPHandlers(_ connection: some ChannelInboundHandler, behind readBuffer: HTTPReadBuffer) throws {
        // `AnswerFrame` sets the headers about the end of an answer.
        var framing = HTTPResponseEncoder.Configuration()
        framing.automaticallySetFramingHeaders = false
        try addHandler(readBuffer)
        try addHandler(HTTPResponseEncoder(configuration: framing))
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: .apiSocket)
        try addHandler(ByteToMessageHandler(decoder))
        try addHandler(connection)
    }
}
