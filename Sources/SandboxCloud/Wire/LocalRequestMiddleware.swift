import Hummingbird
import NIOCore

/// Refuses requests of foreign web pages. The sandbox gives tokens to any caller, so only local programs and the
/// sandbox's own page may call it.
///
/// The header `Host` reveals a foreign DNS name that points to 127.0.0.1. `Origin` or `Sec-Fetch-Site` reveals a
/// foreign page, which cannot change these headers (Fetch Metadata, W3C).
struct LocalRequestMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    /// The TLS proxy in front of the sandbox, if there is one.
    let front: FrontOrigin?

    func handle(
        _ request: Request,
        context: CloudContext,
        next: @concurrent (Request, CloudContext) async throws -> Response
    ) async throws -> Response {
        let port = context.channel.localAddress?.port ?? 0
        guard isOurs(request.head.authority ?? "", port) else {
            return try refusal("the Host header names another server: use http://127.0.0.1:\(port)")
        }
        let origin = request.headers[Self.originField]
        let isForeign = origin.map { !isOurs(origin: $0, port) } ?? false
        guard !isForeign, request.headers[Self.siteField] != "cross-site" || isNavigationToSignIn(request) else {
            return try refusal("a web page of another origin may not call the sandbox")
        }
        return try await next(request, context)
    }

    private static let originField = HeaderName("Origin")!
    private static let siteField = HeaderName("Sec-Fetch-Site")!
    private static let modeField = HeaderName("Sec-Fetch-Mode")!

    /// Returns whether a `Host` names the sandbox at this port or its TLS proxy.
    func isOurs(_ authority: String, _ port: Int) -> Bool {
        if let front, authority == front.authority { return true }
        guard let address = try? ListenAddress(authority) else { return false }
        return address.port == port
    }

    /// Returns whether an `Origin` is the sandbox's own page.
    func isOurs(origin: String, _ port: Int) -> Bool {
        if let front, origin == front.text { return true }
        let scheme = "http://"
        return origin.hasPrefix(scheme) && isOurs(String(origin.dropFirst(scheme.count)), port)
    }

    /// Returns whether an app's page sends the browser to the sign-in page. This is allowed because the app cannot read
    /// that page.
    private func isNavigationToSignIn(_ request: Request) -> Bool {
        request.method == .get && request.headers[Self.modeField] == "navigate"
            && request.uri.path == "/oauth/authorize"
    }

    private func refusal(_ message: String) throws -> Response {
        try .json(Refusal.order(message).body, status: .forbidden)
    }
}
