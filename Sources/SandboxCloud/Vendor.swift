import FoundationEssentials
import Hummingbird

/// One vendor's documented endpoints, and the `/sandbox` endpoints that only make sense for this vendor.
protocol Vendor: Sendable {
    /// The endpoints that hand out tokens, as `POST /v1/token`.
    var tokenEndpoints: Set<String> { get }

    func addRoutes(to router: Router<CloudContext>)

    /// Its users and logins, as the page shows them.
    func overview(of state: CloudState, now: Date) -> VendorOverview

    /// What makes a daemon use it, at this origin; a key that the daemon reads from a file is in this one.
    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration
}
