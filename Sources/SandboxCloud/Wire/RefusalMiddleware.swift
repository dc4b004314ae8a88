import Hummingbird

/// Turns a thrown error into its answer, so that the outer middleware sees only answers.
struct RefusalMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    func handle(
        _ request: Request,
        context: CloudContext,
        next: @concurrent (Request, CloudContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let refusal as Refusal {
            return try refusal.response(from: request, context: context)
        } catch let error as HTTPError {
            return try refusal(error.status, "\(error.status.reasonPhrase): \(request.method) \(request.uri.path)")
        } catch let error as StartFailure {
            return try refusal(.internalServerError, error.description)
        }
    }

    private func refusal(_ status: HTTPResponse.Status, _ message: String) throws -> Response {
        try .json(Refusal.api(status, message).body, status: status)
    }
}
