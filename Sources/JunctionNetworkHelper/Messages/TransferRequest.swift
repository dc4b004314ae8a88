package import JunctionSecret

/// One request. It contains everything that the network helper sends and decides nothing else.
package struct TransferRequest: Sendable {
    /// The body that follows the head of the request.
    package enum Body: Equatable, Sendable {
        case none
        case bytes(UInt64)
        /// The length of the body is not known in advance.
        case streamed
    }

    package var method: String
    package var url: String
    package var headers: [(name: String, value: SharedSecret)]
    package var body: Body
    /// Whether the helper may send the request over a kept connection, and again if that connection turns out to be dead
    /// (RFC 9110 §9.2.2). The daemon allows it for an app's `GET` and `HEAD`. Every other request gets a new connection
    /// and is sent once.
    package var mayBeRepeated: Bool
    package var limits: TransferLimits

    package init(
        method: String,
        url: String,
        headers: [(name: String, value: SharedSecret)] = [],
        body: Body = .none,
        mayBeRepeated: Bool = false,
        limits: TransferLimits
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.mayBeRepeated = mayBeRepeated
        self.limits = limits
    }

    /// Several times the size of a URL with a query, a token and a dozen headers.
    package static let longest = 1 << 18
}

extension TransferRequest {
    func write(into payload: inout Payload) {
        payload.append(method)
        payload.append(url)
        payload.append(UInt16(clamping: headers.count))
        for header in headers {
            payload.append(header.name)
            payload.append(header.value)
        }
        switch body {
        case .none: payload.append(UInt8(0))
        case .bytes(let count):
            payload.append(UInt8(1))
            payload.append(count)
        case .streamed: payload.append(UInt8(2))
        }
        payload.append(UInt8(mayBeRepeated ? 1 : 0))
        limits.write(into: &payload)
    }

    init(from reader: inout PayloadReader) throws(FormatFault) {
        method = try reader.text()
        url = try reader.text()
        headers = []
        for _ in 0..<(try reader.number(UInt16.self)) {
            let name = try reader.text()
            let value = try reader.secret()
            guard FieldText.isToken(name.utf8), value.withUnsafeBytes({ FieldText.isValue($0) }) else {
                throw FormatFault("a header that is none")
            }
            headers.append((name, value))
        }
        guard FieldText.isToken(method.utf8) else { throw FormatFault("a method that is none") }
        switch try reader.number(UInt8.self) {
        case 0: body = .none
        case 1: body = .bytes(try reader.number())
        case 2: body = .streamed
        default: throw FormatFault("a body of unknown kind")
        }
        mayBeRepeated = try reader.flag()
        limits = try TransferLimits(from: &reader)
    }
}
