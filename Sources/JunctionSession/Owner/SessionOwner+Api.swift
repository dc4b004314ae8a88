/// Calls to the provider's API as the signed-in user. The credential never leaves the daemon.
extension SessionOwner {
    /// Sends one request; a 401 costs one renewal and one retry, and is then reported as it is.
    package func call(
        _ request: ApiRequest,
        by uid: UInt32,
        answer: @escaping @Sendable (Result<ApiAnswer, Refusal>) -> Void
    ) {
        start { owner in
            do throws(Refusal) {
                answer(.success(try await owner.call(request, by: uid)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    private func call(_ request: ApiRequest, by uid: UInt32) async throws(Refusal) -> ApiAnswer {
        // Whether the path is the user's own is decided before anything is renewed for its sake.
        if let identity = machine.identity { _ = try provider.admit(request, for: identity) }
        try charge(uid)
        let generation = try await authorization(by: uid)
        let answer = try await send(request)
        guard answer.status == 401 else { return answer }
        guard let renewed = try await replacement(of: generation, by: uid) else { return answer }
        assert(renewed != generation)
        return try await send(request)
    }

    private func charge(_ uid: UInt32) throws(Refusal) {
        let now = now
        if case .exhausted(let retryAfter) = budget.allowance(of: uid, now: now) {
            throw .tooManyProviderCalls(retryAfter: retryAfter)
        }
        budget.charge(uid, now: now)
    }

    private func send(_ request: ApiRequest) async throws(Refusal) -> ApiAnswer {
        // Looked up anew each time: a sign-out or another user may have come in between.
        guard let identity = machine.identity, let secrets = servedSecrets else { throw .notSignedIn }
        let admitted = try provider.admit(request, for: identity)
        do throws(Unavailability) {
            return try await provider.send(admitted, for: identity, with: secrets)
        } catch {
            throw Refusal(.providerUnavailable, error.message, retryAfter: error.retryAfter)
        }
    }

    private func authorization(by uid: UInt32) async throws(Refusal) -> UInt64 {
        let authorization = try await authorization(by: uid) { machine, request, allowance, now in
            machine.authorizationRequested(request, allowance: allowance, now: now)
        }
        return switch authorization {
        case .granted(let generation): generation
        case .rejectionStands: throw .notSignedIn
        }
    }

    /// The generation to try again with; `nil` when the 401 stands.
    private func replacement(of generation: UInt64, by uid: UInt32) async throws(Refusal) -> UInt64? {
        let authorization = try await authorization(by: uid) { machine, request, allowance, now in
            machine.authorizationRejected(request, generation: generation, allowance: allowance, now: now)
        }
        return switch authorization {
        case .granted(let renewed): renewed
        case .rejectionStands: nil
        }
    }

    private func authorization(
        by uid: UInt32,
        for event: (inout SessionMachine, AuthorizationRequest, Allowance, Moment) -> [Effect]
    ) async throws(Refusal) -> Authorization {
        let outcome = await withCheckedContinuation { continuation in
            let now = now
            let request: AuthorizationRequest = register(Caller(uid: uid))
            authorizations[request] = { continuation.resume(returning: $0) }
            let allowance = budget.allowance(of: uid, now: now)
            apply(event(&machine, request, allowance, now), now)
        }
        return try outcome.get()
    }
}
