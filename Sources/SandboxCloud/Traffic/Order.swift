import FoundationEssentials
import Hummingbird
import NIOCore

extension Request {
    /// Decodes the body of a call to a `/sandbox` endpoint. An empty body is an empty object.
    ///
    /// Refuses an unknown key, because a test with a misspelt fault would prove nothing.
    func order<Order: Decodable>(_ type: Order.Type = Order.self) async throws -> Order {
        let buffer = try await body.collect(upTo: 1 << 20)
        let bytes = buffer.readableBytes == 0 ? Data("{}".utf8) : Data(buffer.readableBytesView)
        do {
            let members = try JSONDecoder().decode([String: JSONValue].self, from: bytes)
            let order = try JSONDecoder().decode(Order.self, from: bytes)
            if !(order is [String: JSONValue]) { try members.requireMembers(of: order) }
            return order
        } catch let error as DecodingError {
            throw Refusal.order("the body is not what this endpoint takes: \(error.complaint)")
        }
    }
}

extension Request {
    /// Decodes the JSON body of a call to a vendor, or throws the vendor's error.
    func json<Body: Decodable>(
        _ type: Body.Type = Body.self,
        keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        orElse refusal: Refusal
    ) async throws -> Body {
        let buffer = try await body.collect(upTo: TrafficMiddleware.longestBody)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = keys
        guard let body = try? decoder.decode(Body.self, from: Data(buffer.readableBytesView)) else { throw refusal }
        return body
    }

    var bearer: String? {
        let words = (headers[.authorization] ?? "").split(separator: " ")
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }
}

extension [String: JSONValue] {
    /// Refuses a name that is not a property of the value.
    func requireMembers(of value: some Any) throws(Refusal) {
        let known = Mirror(reflecting: value).children.compactMap(\.label)
        if let unknown = keys.sorted().first(where: { !known.contains($0) }) {
            throw .order("'\(unknown)' is not known here; known are \(known.joined(separator: ", "))")
        }
    }
}

extension DecodingError {
    /// A description of the decoding error for the client.
    var complaint: String {
        switch self {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "it must be one JSON object"
                : "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' has the wrong type or value"
        @unknown default: "it must be one JSON object"
        }
    }
}
