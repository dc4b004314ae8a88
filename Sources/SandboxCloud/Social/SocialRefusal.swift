import Hummingbird

/// The errors of social.plus. The codes are the vendor's. The HTTP status of each code is not documented.
enum SocialRefusal: Int64 {
    case badRequest = 400_000
    case unauthorized = 400_100
    case globallyBanned = 400_312
    case notFound = 400_400

    private var status: HTTPResponse.Status {
        switch self {
        case .badRequest: .badRequest
        case .unauthorized: .unauthorized
        case .globallyBanned: .forbidden
        case .notFound: .notFound
        }
    }

    /// Returns the error in the vendor's envelope.
    func because(_ message: String) -> Refusal {
        Refusal(
            status,
            body: [
                "status": "error", "code": .integer(rawValue), "message": .string(message), "data": [:],
            ]
        )
    }
}
