import JunctionProtocol
import JunctionSession
import NIOCore

/// A reload may take a right away while what was asked with it waits.
extension Dispatcher {
    /// Asks again, at any later time, whether the policy gives this right to the caller. The caller was allowed when it made the
    /// request, and may end before that is carried out.
    func stillMay(_ capability: Capability, _ request: Request) -> @Sendable () -> Bool {
        let caller = NIOLoopBound(request.caller, eventLoop: eventLoop)
        return { caller.value.policyAllows(capability) }
    }

    /// Takes the request along until its answer is known, which is told only to whoever may still ask for it. What was done
    /// is done, and is noted.
    func laterIfAllowed<Definition: MethodDefinition>(
        _: Definition.Type,
        _ method: Method,
        _ request: Request,
        onSuccess: @escaping (Definition.Answer) -> Void = { _ in }
    ) -> @Sendable (Result<Definition.Answer, Refusal>) -> Void {
        let waiting = NIOLoopBound((self, request.caller, onSuccess), eventLoop: eventLoop)
        let answer = request.laterOrDenied(Definition.self)
        return { outcome in
            let (dispatcher, caller, onSuccess) = waiting.value
            if case .success(let value) = outcome { onSuccess(value) }
            if let denial = dispatcher.denial(of: method, to: caller) { return answer(.failure(denial)) }
            answer(outcome.mapError(WireError.init))
        }
    }
}
