import Hummingbird

/// A vendor: its documented endpoints, and its own part of the `/sandbox` endpoints.
protocol Vendor: Sendable {
    var name: VendorName { get }
    /// The name for users.
    var title: String { get }

    /// The endpoints that issue tokens, such as `POST /v1/token`.
    var tokenEndpoints: Set<String> { get }

    /// The credentials that `POST` can create for a user: the label, and the last part of the path.
    var credentials: KeyValuePairs<String, String> { get }

    func addRoutes(to router: Router<CloudContext>)

    /// Creates one of the credentials for the user that a path names. Some vendors accept a user that they do not know
    /// yet.
    func make(_ credential: String, for user: String, _ request: Request) async throws -> JSONValue

    /// Returns the configuration for a daemon. If the daemon reads an API key, the key is in `keyFile`.
    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration
}
