import JunctionProtocol
import JunctionSession
import JunctionText
import NIOCore

/// A reload may withdraw a right while a request that needs it waits.
extension Dispatcher {
    /// Returns a check whether the policy still gives this capability to the caller. The caller had it when it made the
    /// request. The check does not require that the caller is still connected.
    func stillMay(_ capability: Capability, _ request: Request) -> @Sendable () -> Bool {
        let caller = NIOLoopBound(request.caller, eventLoop: eventLoop)
        return { caller.value.policyAllows(capability) }
    }

    /// Returns a function that answers the request later. If the caller has lost the right to the method by then, it
    /// gets an error. `onSuccess` is called in any case, because the change has been made.
    func laterIfAllowed<Definition: MethodDefinition>(
        _: Definition.Type,
        _ method: Method,
        _ request: Request,
        onSuccess: @escaping (Definition.Answer) -> Void = { _ in }
    ) -> @Sendable (Result<Definition.Answer, SessionError>) -> Void {
        let waiting = NIOLoopBound((self, request.caller, onSuccess), eventLoop: eventLoop)
        let answer = request.later(Definition.self)
        return { outcome in
            let (dispatcher, caller, onSuccess) = waiting.value
            let result = outcome.mapError { dispatcher.explained(WireError($0), method) }
            switch result {
            case .success(let value): onSuccess(value)
            case .failure(let error): dispatcher.observeRefusal(error, method, caller)
            }
            if let denial = dispatcher.denial(of: method, to: caller) { return answer(.failure(denial)) }
            answer(result)
        }
    }

    /// Reports a sign-in that the daemon refused, for the log, with the remedy. The session reports the failures of
    /// requests to the provider.
    private func observeRefusal(_ error: WireError, _ method: Method, _ caller: Caller) {
        guard method.signsIn else { return }
        switch error.knownCode {
        case .invalidCredential, .incompatibleCredential, .alreadySignedIn, .unsupported, .invalidParams,
            .storageUnavailable, .busy, .notSignedIn:
            let reason = [error.message, error.remedy].compactMap(\.self).joined(separator: ": ")
            observer.happened(.signInRefused(reason), by: caller.peer)
        case .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .permissionDenied, .tokenExpired,
            .misconfigured, .parseError, .invalidRequest, .methodNotFound, .internalError, nil:
            break
        }
    }

    /// Adds the settings that wait for a restart to the error of a sign-in, because the old settings may be its cause.
    private func explained(_ error: WireError, _ method: Method) -> WireError {
        guard method.signsIn, error.knownCode != .busy else { return error }
        let pending = introspection.pendingRestart
        guard !pending.isEmpty else { return error }
        var error = error
        let settings = pending.joined(separator: ", ")
        let unit = InstanceName.ofThisProcess.unit
        error.message += "; a changed setting waits for a restart (\(settings)): systemctl restart \(unit)"
        return error
    }
}

extension Method {
    /// Whether the method signs a user in, or is a step of a sign-in.
    fileprivate var signsIn: Bool {
        [.sessionSignIn, .sessionIdentify, .sessionAuthorizationPage].contains(self)
    }
}
