import JunctionProtocol
import JunctionSession

extension Dispatcher {
    func registerHandler(_ request: Request, _: NoParams) {
        // Answers first: a renewal that waits for a handler sends its question at once.
        let asksToRenew = owner.assumeIsolated { $0.asksHandlersToRenew }
        let mode = asksToRenew ? nil : RenewalMode.automatic.rawValue
        request.succeed(HandlerRegister.self, HandlerRegister.Answer(mode: mode))
        handlers.add(request.connection, of: owner)
    }

    func unregisterHandler(_ request: Request, _: NoParams) {
        handlers.remove(request.connection)
        request.succeed(HandlerUnregister.self, NoAnswer())
    }
}
