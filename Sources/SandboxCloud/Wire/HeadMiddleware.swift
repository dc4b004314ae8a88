import Hummingbird

/// Leaves the body out of the answer to a HEAD request: one that came would be read as the next answer.
struct HeadMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    func handle(
        _ request: Request,
        context: CloudContext,
        next: @concurrent (Request, CloudContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard request.method == .head else { return response }
        response.headers[.contentLength] = response.body.contentLength.map(String.init)
        response.body = ResponseBody(contentLength: response.body.contentLength) { try await $0.finish(nil) }
        return response
    }
}
