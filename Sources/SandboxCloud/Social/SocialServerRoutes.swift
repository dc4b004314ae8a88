import FoundationEssentials
import Hummingbird

extension SocialCloud {
    /// Adds the endpoint by which an app's backend vouches for a user. The vendor need not know the user yet.
    func addServerRoutes(to router: Router<CloudContext>) {
        // The vendor still supports the older path.
        for version in ["v4", "v3"] {
            router.post("api/\(version)/authentication/token") { request, _ in
                guard (1...150).contains(request.headers[.serverKey]?.count ?? 0) else {
                    throw SocialRefusal.unauthorized.because("x-server-key is missing")
                }
                let vouched: VouchedUser = try await request.socialBody()
                guard (1...50).contains(vouched.userId.count) else {
                    throw SocialRefusal.badRequest.because("userId must have 1 to 50 characters")
                }
                let token = try authToken(for: vouched.userId)
                // Like the vendor, sends a JSON string with the type of plain text.
                return Response.bytes(Array("\"\(token)\"".utf8), contentType: "text/plain; charset=utf-8")
            }
        }
    }
}

private struct VouchedUser: Decodable {
    let userId: String
}

extension HeaderName {
    fileprivate static let serverKey = Self("x-server-key")!
}
