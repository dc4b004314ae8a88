import Hummingbird
import NIOCore

/// Counts and records every request to a vendor's endpoint before a fault changes it.
struct TrafficMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    /// The largest body in bytes: larger than a client sends in one part, and small enough to hold in memory.
    static let longestBody = 64 << 20

    let store: Store
    let tokenEndpoints: Set<String>

    func handle(
        _ request: Request,
        context: CloudContext,
        next: @concurrent (Request, CloudContext) async throws -> Response
    ) async throws -> Response {
        guard request.isForVendor else { return try await next(request, context) }
        var request = request
        var context = context
        let body = try await request.collectBody(upTo: Self.longestBody)
        let contentType = request.headers[.contentType]
        if contentType?.lowercased().hasPrefix(Form.contentType) == true {
            context.form = Form(String(buffer: body))
        }
        let note = RequestNote(
            at: store.snapshot.moment.now,
            method: request.method.rawValue,
            path: request.uri.path,
            contentType: contentType,
            headers: request.headers.map { $0.name.rawName.lowercased() },
            form: RequestNote.fields(of: context.form),
            bodyBytes: body.readableBytes
        )
        let endpoint = context.endpointPath.map { "\(request.method.rawValue) \($0)" } ?? "unknown"
        store.update { contents in
            contents.requests.add(note)
            contents.tally.arrived(at: endpoint, isTokenRequest: tokenEndpoints.contains(endpoint))
        }
        do {
            let response = try await next(request, context)
            store.count { $0.left(endpoint, answer: String(response.status.code)) }
            return response
        } catch {
            store.count { tally in
                tally.left(endpoint, answer: "dropped")
                tally.dropped += 1
            }
            throw error
        }
    }
}

extension Request {
    /// Whether the request is for a vendor, not for the `/sandbox` endpoints or the page.
    var isForVendor: Bool {
        !uri.path.hasPrefix("/sandbox") && uri.path != "/"
    }
}
