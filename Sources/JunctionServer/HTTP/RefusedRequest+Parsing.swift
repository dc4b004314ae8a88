import JunctionProtocol
import NIOHTTP1

extension RefusedRequest {
    /// Makes the answer for a parser error; `nil` if the error is not about HTTP.
    ///
    /// - Parameter hadBareLineFeed: whether a line ended without CR. The parser reads the LF as a part of the version.
    init?(parsing error: any Error, hadBareLineFeed: Bool = false) {
        guard let fault = error as? HTTPParserError else { return nil }
        switch fault {
        case .headerOverflow:
            self.init(
                431,
                .invalidRequest,
                "The head of a request has at most \(Self.longestHead) bytes and \(Self.mostHeaders) headers"
            )
        case .invalidVersion where hadBareLineFeed:
            self.init(400, .invalidRequest, "Every line of a request's head ends with CR and LF")
        case .invalidVersion: self.init(505, .invalidRequest, "Only HTTP/1.1 is spoken here")
        case .invalidMethod: self.init(400, .invalidRequest, "This is no HTTP request")
        default: self.init(400, .invalidRequest, "The request cannot be read as HTTP/1.1: \(fault.debugDescription)")
        }
    }

    /// The longest head: several times a long path, query and the headers of a library.
    static let longestHead = 1 << 15
    /// The longest header, or path with query.
    static let longestField = 1 << 14
    static let mostHeaders = 100
}

extension NIOHTTPDecoderLimitConfiguration {
    static let apiSocket: Self = {
        var limits = Self()
        limits.maxHeaderFieldSize = RefusedRequest.longestField
        limits.maxHeaderListSize = RefusedRequest.longestHead
        limits.maxHeaderFieldCount = RefusedRequest.mostHeaders
        return limits
    }()
}
