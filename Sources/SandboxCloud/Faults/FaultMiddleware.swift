import Hummingbird
import HummingbirdCore
import NIOCore

/// Applies the planned faults to requests before they reach the vendor's endpoint.
struct FaultMiddleware: RouterMiddleware {
    typealias Context = CloudContext

    /// The error after the connection was closed, when no answer is possible.
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
        context.fault = fault
        let answer = fault.reachesVendor ? try await next(request, context) : nil
        if fault.drop != nil { try await drop(context) }
        return try fault.spoil(answer)
    }

    /// Returns the oldest fault that matches the request, and counts the use.
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

    /// Closes the connection. Hummingbird discards the answer that it makes of the error.
    private func drop(_ context: CloudContext) async throws -> Never {
        try? await context.channel.close()
        throw Dropped()
    }
}
