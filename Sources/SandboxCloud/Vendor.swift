import Hummingbird

/// One vendor's documented endpoints, and the little of the `/sandbox` endpoints that only makes sense for this vendor.
protocol Vendor: Sendable {
    var name: VendorName { get }
    /// As people call it.
    var title: String { get }

    /// The endpoints that hand out tokens, as `POST /v1/token`.
    var tokenEndpoints: Set<String> { get }

    /// What can be made for a user by `POST`, as a person and as a path calls it.
    var credentials: KeyValuePairs<String, String> { get }

    func addRoutes(to router: Router<CloudContext>)

    /// Makes one of the credentials for the user whom a path names, who need not be known everywhere.
    func make(_ credential: String, for user: String, _ request: Request) async throws -> JSONValue

    /// What makes a daemon use it, at this origin; a key that the daemon reads from a file is in this one.
    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration
}
