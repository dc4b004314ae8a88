import FoundationEssentials
import Hummingbird
import NIOCore

/// The page at `/`, on which a user watches the sandbox and causes faults.
struct Page: Sendable {
    let store: Store
    let vendors: [any Vendor]
    let scheme: String

    func addRoutes(to router: Router<CloudContext>) {
        router.get("/") { _, _ in Self.file(PackageResources.page_html, "text/html; charset=utf-8") }
        router.get("sandbox/page/page.css") { _, _ in Self.file(PackageResources.page_css, "text/css; charset=utf-8") }
        router.get("sandbox/page/page.js") { _, _ in
            Self.file(PackageResources.page_js, "text/javascript; charset=utf-8")
        }
        router.get("sandbox/page/icon.svg") { _, _ in Self.file(PackageResources.icon_svg, "image/svg+xml") }
        router.get("sandbox/overview") { request, _ in try Response.json(overview(at: request.origin(over: scheme))) }
        router.get("sandbox/events") { request, _ in events(at: request.origin(over: scheme)) }
    }

    /// The content security policy: no other origin, no inline code, no frames.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """

    private static func file(_ bytes: [UInt8], _ contentType: String) -> Response {
        var response = Response.bytes(bytes, contentType: contentType)
        response.headers[.contentSecurityPolicy] = policy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        // Another version of the sandbox may run at this address later.
        response.headers[.cacheControl] = "no-store"
        return response
    }

    // MARK: What it shows

    private func overview(at origin: String) -> Overview {
        let (contents, moment) = store.snapshot
        return Overview(contents, at: moment, of: vendors, origin: origin)
    }

    /// Sends the overview now and after each change, as server-sent events.
    private func events(at origin: String) -> Response {
        let body = ResponseBody { writer in
            let changes = store.changes()
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    // Only a write detects that the client has closed the connection.
                    while true {
                        try await Task.sleep(for: Self.longestSilence)
                        store.update { _ in }
                    }
                }
                for await _ in changes {
                    let text = try Response.jsonText(overview(at: origin))
                    try await writer.write(ByteBuffer(bytes: Array("data: ".utf8) + text + Array("\n\n".utf8)))
                    try await Task.sleep(for: Self.shortestPause)
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: body
        )
    }

    private static let longestSilence = Duration.seconds(10)
    /// The pause between two events, so that an open page does not slow down a load test.
    private static let shortestPause = Duration.milliseconds(50)
}

extension HeaderName {
    fileprivate static let referrerPolicy = Self("referrer-policy")!
}
