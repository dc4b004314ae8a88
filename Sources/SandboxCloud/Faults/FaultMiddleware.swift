import Hummingbird
import HummingbirdCore
import NIOCore

/// Makes go wrong what the fault plan says, between the client and the vendor's endpoint.
struct FaultMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    /// The connection is closed; nothing can be answered any more.
    struct Dropped: Error {}

    let plan: FaultPlan
    let hanging: HangingRequests
    let counters: Counters

    func handle(
        _ request: Request,
        context: CloudContext,
        next: @concurrent (Request, CloudContext) async throws -> Response
    ) async throws -> Response {
        guard request.isForVendor, let fault = fault(for: request, context: context) else {
            return try await next(request, context)
        }
        if let latency = fault.latency { try await Task.sleep(for: .seconds(latency)) }
        if fault.hang == true, try await hang(request) == .abandoned { try await drop(context) }

        var context = context
        context.tokenShape.expiresInAsString = fault.expiresInAsString == true
        context.tokenShape.omitRefreshToken = fault.omitRefreshToken == true
        context.tokenShape.members = fault.tokenMembers ?? [:]
        let answer = fault.reachesVendor ? try await next(request, context) : nil
        if fault.drop != nil { try await drop(context) }
        return try fault.spoil(answer)
    }

    private func fault(for request: Request, context: CloudContext) -> Fault? {
        plan.take(method: request.method.rawValue, path: request.uri.path, grant: context.form.flatMap(GrantType.init))
    }

    private func hang(_ request: Request) async throws -> HangingRequests.End {
        let place = hanging.hold()
        counters.count { $0.hanging += 1 }
        defer { counters.count { $0.hanging -= 1 } }
        return try await request.body.consumeWithInboundCloseHandler { _ in
            await place.end()
        } onInboundClosed: {
            hanging.abandon(place)
        }
    }

    /// Closes the connection. The answer that Hummingbird makes of the error then finds nowhere to go.
    private func drop(_ context: CloudContext) async throws -> Never {
        try? await context.channel.close()
        throw Dropped()
    }
}
