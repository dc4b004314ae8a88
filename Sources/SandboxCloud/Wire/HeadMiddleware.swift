import Hummingbird

/// Removes the body from the answer to a HEAD request. A client would read it as the next answer.
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
