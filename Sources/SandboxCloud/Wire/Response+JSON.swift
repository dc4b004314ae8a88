import FoundationEssentials
import Hummingbird

/// The name of a header. Hummingbird exports the list of headers, but not the type of its elements.
typealias HeaderName = HTTPFields.Element.Name

extension Response {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        bytes(Array(try jsonText(value)), status: status, contentType: "application/json")
    }

    /// Encodes a value as one line of JSON.
    static func jsonText(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    static func bytes(_ bytes: [UInt8], status: HTTPResponse.Status = .ok, contentType: String) -> Response {
        var response = Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        response.headers[.contentType] = contentType
        response.headers[.contentLength] = String(bytes.count)
        return response
    }
}
