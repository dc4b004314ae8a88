import JunctionProtocol
import JunctionSession

/// Who is asked when the session is to be renewed.
extension Dispatcher {
    func registerHandler(_ request: Request, _: NoParams) {
        // The answer first: a renewal that waited for a handler is asked for at once.
        let mode = owner.assumeIsolated { $0.renewalMode }
        request.succeed(HandlerRegister.self, HandlerRegister.Answer(mode: mode == .automatic ? mode.rawValue : nil))
        handlers.add(request.connection, of: owner)
    }

    func unregisterHandler(_ request: Request, _: NoParams) {
        handlers.remove(request.connection)
        request.succeed(HandlerUnregister.self, NoAnswer())
    }
}
