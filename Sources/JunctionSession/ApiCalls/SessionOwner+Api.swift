/// Calls to the provider's API as the signed-in user. The credential never leaves the daemon.
extension SessionOwner {
    /// Sends one request. A 401 causes one renewal and one retry; a second 401 is returned to the caller.
    ///
    /// If the user of the call signs out, the call ends. No part of the provider's answer is delivered after that, even
    /// if the same or another user signs in again.
    ///
    /// - Parameter isAllowed: called before each request leaves.
    package func call(
        _ request: ApiRequest,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        answer: @escaping @Sendable (Result<ApiAnswer, SessionError>) -> Void
    ) {
        let id = newRequest()
        let task = start { owner in
            let outcome: Result<ApiAnswer, SessionError>
            do throws(SessionError) {
                outcome = .success(try await owner.call(request, id, by: uid, while: isAllowed))
            } catch {
                outcome = .failure(error)
            }
            // If the call is no longer in the list, its user has signed out, and the outcome is discarded.
            if owner.calls.removeValue(forKey: id) == nil {
                if case .success(let given) = outcome { given.stream?.abandon() }
                answer(.failure(.endedCall(owner.machine.sessionRefusal)))
            } else {
                answer(outcome)
            }
        }
        calls[id] = CallUnderWay(user: machine.identity, task: task)
    }

    private func call(
        _ request: ApiRequest,
        _ id: RequestID,
        by uid: UInt32,
        while isAllowed: () -> Bool
    ) async throws(SessionError) -> ApiAnswer {
        // The provider checks the path before a renewal is made for the call.
        if let identity = machine.identity { _ = try provider.validate(request.naming(identity.userId), for: identity) }
        _ = try await authorization { $0.authorizationRequested($1, by: uid, now: $2) }
        // The call uses the present credential. A rotation may have ended in the meantime.
        guard let identity = machine.identity else { throw .notSignedIn }
        calls[id]?.user = identity
        let generation = machine.servedGeneration
        let answer = try await send(request, id, for: identity, countedFor: uid, while: isAllowed)
        guard answer.status == 401 else { return answer }
        do throws(SessionError) {
            guard try await isReplaced(generation, by: uid) else { return answer }
            // A streamed upload cannot be sent again. The caller's next request uses the new credential.
            guard request.upload == nil else { return answer }
            // The retry belongs to the same call and is not counted again.
            let second = try await send(request, id, for: identity, countedFor: nil, while: isAllowed)
            answer.stream?.abandon()
            return second
        } catch {
            answer.stream?.abandon()
            throw error
        }
    }

    private func send(
        _ request: ApiRequest,
        _ id: RequestID,
        for user: Identity,
        countedFor uid: UInt32?,
        while isAllowed: () -> Bool
    ) async throws(SessionError) -> ApiAnswer {
        guard isAllowed() else { throw SessionError(.permissionDenied, "This caller may not call the API any more") }
        // The user and the secrets are read again each time, because a sign-out or another user's sign-in may have
        // happened.
        guard calls[id] != nil, let identity = machine.identity, identity.isSameUser(as: user),
            let secrets = servedSecrets
        else { throw .notSignedIn }
        let admitted = try provider.validate(request.naming(identity.userId), for: identity)
        if let uid, let refusal = machine.apiBudget.spend(uid, now: now) { throw refusal }
        let generation = machine.servedGeneration
        let answer: ApiAnswer
        if let upload = request.upload { keep(upload, for: identity) }
        do throws(Unavailability) {
            answer = try await provider.send(admitted, for: identity, with: secrets)
            if let stream = answer.stream { keep(stream, for: identity) }
        } catch {
            throw SessionError(ofCall: error)
        }
        if let verdict = provider.verdict(in: answer) {
            handle { $0.apiCallJudged(verdict, generation: generation, now: $1) }
        }
        return answer
    }

    /// Keeps a body stream, so that it is broken off when its user is no longer signed in.
    private func keep(_ stream: BodyStream, for identity: Identity) {
        streams.removeAll { $0.body.isSpent }
        streams.append((stream, identity))
        endCalls()
    }

    /// Ends the calls of users who are no longer signed in, and breaks off their body streams.
    func endCalls() {
        for (id, call) in calls where call.user.map(isSignedIn) == false {
            calls[id] = nil
            call.task.cancel()
        }
        let ended = streams.filter { !isSignedIn($0.user) }
        guard !ended.isEmpty else { return }
        streams.removeAll { !isSignedIn($0.user) }
        for stream in ended { stream.body.breakOff(.callerSignedOut) }
    }

    private func isSignedIn(_ user: Identity) -> Bool { machine.identity?.isSameUser(as: user) == true }

    /// Counts a provider call of this user that does not belong to the session. Returns the error if the limit is
    /// reached.
    package func providerCallBegan(by uid: UInt32) -> SessionError? {
        machine.budget.spend(uid, now: now)
    }

    /// Returns whether a newer credential replaces the one that the API has rejected. If none is available, the caller
    /// gets the 401. If only the user's limit prevents it, this function throws that error.
    private func isReplaced(_ generation: UInt64, by uid: UInt32) async throws(SessionError) -> Bool {
        do throws(SessionError) {
            let answer = try await authorization {
                $0.authorizationRequested($1, replacing: generation, by: uid, now: $2)
            }
            return answer != .rejectionStands
        } catch {
            if error.kind == .busy, machine.budget.refusal(of: uid, now: now) != nil { throw error }
            switch error.kind {
            case .busy, .providerUnavailable, .misconfigured, .tokenExpired, .reauthenticationRequired: break
            case .alreadySignedIn, .invalidCredential, .notSignedIn, .sessionTerminated, .permissionDenied: throw error
            case .incompatibleCredential, .storageUnavailable, .unsupported, .invalidParameters: throw error
            }
            return false
        }
    }

    private func authorization(
        after event: (inout SessionMachine, RequestID, Moment) -> [Effect]
    ) async throws(SessionError) -> Answer {
        let outcome = await withCheckedContinuation { continuation in
            handle(OpenRequest { _, outcome in continuation.resume(returning: outcome) }, event)
        }
        return try outcome.get()
    }
}

struct CallUnderWay {
    /// The user of the call. `nil` while the call waits for a sign-in under way.
    var user: Identity?
    var task: Task<Void, Never>
}

extension Unavailability {
    /// The reason for which a body is broken off at a sign-out.
    static let callerSignedOut = Unavailability("The user for whom this was sent has signed out")
}

extension SessionError {
    /// Returns the error of an ended call: the provider's verdict, or otherwise the sign-out of its user.
    ///
    /// - Parameter present: the error of the present state, if there is no session.
    fileprivate static func endedCall(_ present: SessionError?) -> SessionError {
        guard let present, present.kind == .sessionTerminated else { return .callerSignedOut }
        return present
    }

    /// The error of a call that a sign-out has ended, even if another user is signed in by now.
    static let callerSignedOut = SessionError(
        .notSignedIn,
        "The user for whom the call was made has signed out: its answer is discarded",
        remedy: "the call may have been carried out: look before you make it again, as the user who is signed in now"
    )
}

extension SessionError {
    /// Creates the error of an API call without a complete answer.
    package init(ofCall error: Unavailability) {
        if error == .callerSignedOut {
            self = .callerSignedOut
            return
        }
        self.init(
            error,
            remedy: error.ambiguous
                ? "the call may have been carried out: look before you make it again; the daemon does not"
                : "make the call again; the daemon does not. 'junctionctl doctor' says what is in the way"
        )
    }
}
