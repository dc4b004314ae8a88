import JunctionProtocol
import JunctionSession

extension Dispatcher {
    func registerHandler(_ request: Request, _: NoParams) {
        // Answers first: a renewal that waits for a handler sends its question at once.
        let mode = owner.assumeIsolated { $0.renewalMode }
        request.succeed(HandlerRegister.self, HandlerRegister.Answer(mode: mode == .automatic ? mode.rawValue : nil))
        handlers.add(request.connection, of: owner)
    }

    func unregisterHandler(_ request: Request, _: NoParams) {
        handlers.remove(request.connection)
        request.succeed(HandlerUnregister.self, NoAnswer())
    }
}
