import Hummingbird
import NIOCore

/// Refuses what a web page from elsewhere sends: the sandbox hands tokens to any caller, so only this machine's programs and the
/// sandbox's own page may call it.
///
/// A name that an attacker's DNS points at 127.0.0.1 shows in `Host`; a foreign page shows in `Origin` or `Sec-Fetch-Site`, which
/// a page cannot change (Fetch Metadata, W3C).
struct LocalRequestMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    /// Where a TLS front stands before the sandbox, if one does.
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

    /// Whether this `Host` means the sandbox, which listens at this port, or the TLS front before it.
    func isOurs(_ authority: String, _ port: Int) -> Bool {
        if let front, authority == front.authority { return true }
        guard let address = try? ListenAddress(authority) else { return false }
        return address.port == port
    }

    /// Whether a page of this `Origin` is the sandbox's own.
    func isOurs(origin: String, _ port: Int) -> Bool {
        if let front, origin == front.text { return true }
        let scheme = "http://"
        return origin.hasPrefix(scheme) && isOurs(String(origin.dropFirst(scheme.count)), port)
    }

    /// An app's page or file sends the browser to the sign-in page: that is what the page is for, and the app cannot read it.
    private func isNavigationToSignIn(_ request: Request) -> Bool {
        request.method == .get && request.headers[Self.modeField] == "navigate"
            && request.uri.path == "/oauth/authorize"
    }

    private func refusal(_ message: String) throws -> Response {
        try .json(Refusal.order(message).body, status: .forbidden)
    }
}
