import Hummingbird
import HummingbirdCore
import NIOCore

/// Makes go wrong what the fault plan says, between the client and the vendor's endpoint.
struct FaultMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    /// The connection is closed; nothing can be answered any more.
    struct Dropped: Error {}

    let store: Store
    let hanging: HangingRequests

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

    /// The oldest fault that fits the request, which is then used up by one.
    private func fault(for request: Request, context: CloudContext) -> Fault? {
        let (method, path) = (request.method.rawValue, request.uri.path)
        let grant = context.form.flatMap(GrantType.init)
        return store.update { contents in
            guard let index = contents.faults.firstIndex(where: { $0.fits(method: method, path: path, grant: grant) })
            else { return nil }
            let fault = contents.faults[index]
            contents.faults[index].times = fault.times.map { $0 - 1 }
            if contents.faults[index].times == 0 { contents.faults.remove(at: index) }
            return fault
        }
    }

    private func hang(_ request: Request) async throws -> HangingRequests.End {
        let (place, end) = hanging.hold()
        store.count { $0.hanging += 1 }
        defer { store.count { $0.hanging -= 1 } }
        return try await request.body.consumeWithInboundCloseHandler { _ in
            await end()
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
