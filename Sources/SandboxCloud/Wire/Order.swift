import FoundationEssentials
import Hummingbird
import NIOCore

/// The JSON body of a `/sandbox` endpoint.
///
/// A key it does not know is refused, for a misspelt fault makes a test that proves nothing.
protocol Order: Decodable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

extension Request {
    /// The order in the body; an empty body is an order without wishes.
    func order<Wanted: Order>(_ type: Wanted.Type) async throws -> Wanted {
        let buffer = try await body.collect(upTo: 1 << 20)
        let bytes = buffer.readableBytes == 0 ? Data("{}".utf8) : Data(buffer.readableBytesView)
        do {
            let known = Wanted.CodingKeys.allCases.map(\.stringValue)
            let asked = try JSONDecoder().decode([String: JSONValue].self, from: bytes).keys
            if let stranger = asked.sorted().first(where: { !known.contains($0) }) {
                throw Refusal.order("'\(stranger)' is not known here; known are \(known.joined(separator: ", "))")
            }
            return try JSONDecoder().decode(Wanted.self, from: bytes)
        } catch let error as DecodingError {
            throw Refusal.order("the body is not what this endpoint takes: \(error.complaint)")
        }
    }
}

extension DecodingError {
    /// What is wrong with what was decoded, in words for whoever sent it.
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
