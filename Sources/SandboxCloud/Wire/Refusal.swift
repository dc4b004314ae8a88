import Hummingbird

/// An error answer in the vendor's documented format.
struct Refusal: HTTPResponseError, Equatable {
    let status: HTTPResponse.Status
    let body: JSONValue

    init(_ status: HTTPResponse.Status, body: JSONValue) {
        self.status = status
        self.body = body
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        try .json(body, status: status)
    }
}

extension Refusal {
    /// Returns an error of Junction's API.
    static func api(_ status: HTTPResponse.Status, _ message: String) -> Refusal {
        let type = status.reasonPhrase.uppercased().replacing(" ", with: "_")
        return Refusal(
            status,
            body: ["detail": ["error_type": .string(type), "error_message": .string(message)]]
        )
    }

    /// Returns an error of a `/sandbox` endpoint: one sentence about what to do instead.
    static func order(_ message: String, status: HTTPResponse.Status = .badRequest) -> Refusal {
        Refusal(status, body: ["error": .string(message)])
    }
}
