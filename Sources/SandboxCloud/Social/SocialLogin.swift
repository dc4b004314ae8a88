import FoundationEssentials
import Hummingbird

/// The body of `POST /api/v5/sessions`, within the vendor's limits.
struct SocialLogin: Decodable, Sendable {
    let userId: String
    let deviceId: String
    let displayName: String?
    let authToken: String?

    fileprivate var complaint: String? {
        if !(1...50).contains(userId.count) {
            "userId must have 1 to 50 characters"
        } else if !(1...150).contains(deviceId.count) {
            "deviceId must have 1 to 150 characters"
        } else if !(0...100).contains(displayName?.count ?? 0) {
            "displayName must have at most 100 characters"
        } else if !(1...100).contains(authToken?.count ?? 1) {
            "authToken must have 1 to 100 characters"
        } else {
            nil
        }
    }
}

extension Request {
    /// Decodes the login in the body, and checks that the request has an API key.
    func socialLogin() async throws -> SocialLogin {
        guard headers[.apiKey]?.isEmpty == false else {
            throw SocialRefusal.badRequest.because("X-API-Key is missing")
        }
        let login: SocialLogin = try await socialBody()
        if let complaint = login.complaint { throw SocialRefusal.badRequest.because(complaint) }
        return login
    }

    func socialBody<Body: Decodable>() async throws -> Body {
        try await json(orElse: SocialRefusal.badRequest.because("the body is not the JSON expected here"))
    }

    func socialToken() throws(Refusal) -> String {
        guard let bearer else { throw SocialRefusal.unauthorized.because("send Authorization: Bearer") }
        return bearer
    }
}

extension HeaderName {
    fileprivate static let apiKey = Self("x-api-key")!
}
