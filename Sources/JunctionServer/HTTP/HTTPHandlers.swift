import NIOCore
import NIOHTTP1

extension ChannelPipeline.SynchronousOperations {
    /// What turns bytes into requests, and answers into bytes: others keep it, and it is as strict as it can be.
    ///
    /// - Parameter readBuffer: keeps received bytes until the connection asks for them.
    func addHTTPHandlers(_ connection: some ChannelInboundHandler, behind readBuffer: HTTPReadBuffer) throws {
        // How an answer ends is said by whoever makes it.
        var framing = HTTPResponseEncoder.Configuration()
        framing.automaticallySetFramingHeaders = false
        try addHandler(readBuffer)
        try addHandler(HTTPResponseEncoder(configuration: framing))
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: .apiSocket)
        try addHandler(ByteToMessageHandler(decoder))
        try addHandler(connection)
    }
}
