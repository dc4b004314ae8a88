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
    ) -> @Sendable (Result<Definition.Answer, SessionError>) -> Void {
        let waiting = NIOLoopBound((self, request.caller, onSuccess), eventLoop: eventLoop)
        let answer = request.laterOrDenied(Definition.self)
        return { outcome in
            let (dispatcher, caller, onSuccess) = waiting.value
            switch outcome {
            case .success(let value): onSuccess(value)
            case .failure(let error): dispatcher.observeRefusal(error, method, caller)
            }
            if let denial = dispatcher.denial(of: method, to: caller) { return answer(.failure(denial)) }
            answer(outcome.mapError { dispatcher.explained(WireError($0), method) })
        }
    }

    /// Reports a sign-in that was refused for its credential or for the user who is signed in, so that the log has the reason.
    private func observeRefusal(_ error: SessionError, _ method: Method, _ caller: Caller) {
        guard method == .sessionSignIn || method == .sessionIdentify else { return }
        switch error.kind {
        case .invalidCredential, .incompatibleCredential, .alreadySignedIn:
            observer.refusedSignIn(by: caller.peer, because: error.message)
        case .notSignedIn, .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .permissionDenied,
            .storageUnavailable, .tokenExpired, .busy, .unsupported, .misconfigured, .invalidParameters:
            break
        }
    }

    /// Names the settings that wait for a restart in the error of a sign-in: the old settings may be its cause.
    private func explained(_ error: WireError, _ method: Method) -> WireError {
        let isSignIn = method == .sessionSignIn || method == .sessionIdentify
        guard isSignIn, error.knownCode != .busy else { return error }
        let pending = introspection.pendingRestart
        guard !pending.isEmpty else { return error }
        var error = error
        let settings = pending.joined(separator: ", ")
        let remedy = "a changed setting waits for a restart (\(settings)): systemctl restart junctiond"
        error.remedy = [error.remedy, remedy].compactMap(\.self).joined(separator: "; ")
        return error
    }
}
