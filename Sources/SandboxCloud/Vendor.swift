import Hummingbird

/// One vendor's documented endpoints, and the `/sandbox` endpoints that only make sense for this vendor.
protocol Vendor: Sendable {
    /// The endpoints that hand out tokens, as `POST /v1/token`.
    var tokenEndpoints: Set<String> { get }

    func addRoutes(to router: Router<CloudContext>)
}
