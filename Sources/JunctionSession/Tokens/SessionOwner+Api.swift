/// Calls to the provider's API as the signed-in user. The credential never leaves the daemon.
extension SessionOwner {
    /// Sends one request; a 401 costs one renewal and one retry, and is then reported as it is.
    ///
    /// A sign-out of the user for whom it is made ends the call: nothing of the provider's answer is delivered after that,
    /// also when another user, or the same one, signs in again.
    ///
    /// - Parameter isAllowed: asked each time before a request leaves.
    package func call(
        _ request: ApiRequest,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        answer: @escaping @Sendable (Result<ApiAnswer, SessionError>) -> Void
    ) {
        let id = newRequest()
        let task = start { owner in
            let outcome = await owner.outcome(of: request, id, by: uid, while: isAllowed)
            // A call that is no longer in the list has lost its user meanwhile: the outcome is discarded.
            if owner.calls.removeValue(forKey: id) == nil {
                if case .success(let given) = outcome { given.stream?.abandon() }
                answer(.failure(.endedCall(owner.machine.sessionRefusal)))
            } else {
                answer(outcome)
            }
        }
        calls[id] = CallUnderWay(user: machine.identity, task: task)
    }

    private func outcome(
        of request: ApiRequest,
        _ id: RequestID,
        by uid: UInt32,
        while isAllowed: () -> Bool
    ) async -> Result<ApiAnswer, SessionError> {
        do throws(SessionError) {
            return .success(try await call(request, id, by: uid, while: isAllowed))
        } catch {
            return .failure(error)
        }
    }

    private func call(
        _ request: ApiRequest,
        _ id: RequestID,
        by uid: UInt32,
        while isAllowed: () -> Bool
    ) async throws(SessionError) -> ApiAnswer {
        // Whether the path is the user's own is decided before anything is renewed for its sake.
        if let identity = machine.identity { _ = try provider.admit(request.naming(identity.userId), for: identity) }
        _ = try await authorization(by: uid)
        // The credential is the one of this moment: a rotation may have come in between.
        guard let identity = machine.identity else { throw .notSignedIn }
        calls[id]?.user = identity
        let generation = machine.servedGeneration
        let answer = try await send(request, id, for: identity, countedFor: uid, while: isAllowed)
        guard answer.status == 401 else { return answer }
        do throws(SessionError) {
            guard try await isReplaced(generation, by: uid) else { return answer }
            // What was sent while it came is not there any more: the next request is the one that has the new credential.
            guard request.upload == nil else { return answer }
            // The retry belongs to the call that caused it: it is not counted again.
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
        // Looked up anew each time: a sign-out or another user may have come in between.
        guard calls[id] != nil, let identity = machine.identity, identity.isSameUser(as: user),
            let secrets = servedSecrets
        else { throw .notSignedIn }
        let admitted = try provider.admit(request.naming(identity.userId), for: identity)
        if let uid, let refusal = machine.apiCallBegan(by: uid, now: now) { throw refusal }
        let generation = machine.servedGeneration
        let answer: ApiAnswer
        if let upload = request.upload { keep(upload, for: identity) }
        do throws(Unavailability) {
            let given = try await provider.send(admitted, for: identity, with: secrets)
            if let stream = given.stream { keep(stream, for: identity) }
            answer = await given.readyToBeJudged()
        } catch {
            throw SessionError(ofCall: error)
        }
        if let verdict = provider.verdict(in: answer) {
            handle { $0.apiCallJudged(verdict, generation: generation, now: $1) }
        }
        return answer
    }

    /// Bodies pass for as long as the user is the one that the call was made for.
    private func keep(_ stream: BodyStream, for identity: Identity) {
        streams.removeAll { $0.body.isSpent }
        streams.append((stream, identity))
        endCalls()
    }

    /// Ends the calls of a user who is not signed in any more, and breaks off the bodies that pass for this user.
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

    /// A request to the provider is about to leave for this user's sake, and none of the session's: why it may not, if so.
    package func providerCallBegan(by uid: UInt32) -> SessionError? {
        machine.providerCallBegan(by: uid, now: now)
    }

    private func authorization(by uid: UInt32) async throws(SessionError) -> Answer {
        try await authorization(by: uid) { machine, request, now in
            machine.authorizationRequested(request, by: uid, now: now)
        }
    }

    /// Whether there is a newer credential than the one that the API has rejected; where none can be had now, the 401 is
    /// what is reported, unless it is only the user's limit that stands in the way.
    private func isReplaced(_ generation: UInt64, by uid: UInt32) async throws(SessionError) -> Bool {
        do throws(SessionError) {
            let authorization = try await authorization(by: uid) { machine, request, now in
                machine.authorizationRejected(request, generation: generation, by: uid, now: now)
            }
            return authorization != .rejectionStands
        } catch {
            if error.kind == .busy, machine.refusalOfRenewal(by: uid, now: now) != nil { throw error }
            switch error.kind {
            case .busy, .providerUnavailable, .misconfigured, .tokenExpired, .reauthenticationRequired: break
            case .alreadySignedIn, .invalidCredential, .notSignedIn, .sessionTerminated, .permissionDenied: throw error
            case .incompatibleCredential, .storageUnavailable, .unsupported, .invalidParameters: throw error
            }
            return false
        }
    }

    private func authorization(
        by uid: UInt32,
        for event: (inout SessionMachine, RequestID, Moment) -> [Effect]
    ) async throws(SessionError) -> Answer {
        let outcome = await withCheckedContinuation { continuation in
            handle(OpenRequest { _, outcome in continuation.resume(returning: outcome) }, event)
        }
        return try outcome.get()
    }
}

/// A call to the API that has not been answered.
struct CallUnderWay {
    /// The user for whom it is made. `nil` while no user is signed in and the call waits for a sign-in under way.
    var user: Identity?
    var task: Task<Void, Never>
}

extension Unavailability {
    /// Why a body is broken off.
    static let callerSignedOut = Unavailability("The user for whom this was sent has signed out")
}

extension SessionError {
    /// Why a call was ended: the provider has ended its user's session, or else its user has signed out.
    ///
    /// - Parameter present: why there is no session now, if there is none.
    fileprivate static func endedCall(_ present: SessionError?) -> SessionError {
        guard let present, present.kind == .sessionTerminated else { return .callerSignedOut }
        return present
    }

    /// A call that a sign-out has ended, although another user is signed in by now.
    static let callerSignedOut = SessionError(
        .notSignedIn,
        "The user for whom the call was made has signed out: its answer is discarded",
        remedy: "the call may have been carried out: look before you make it again, as the user who is signed in now"
    )
}

extension SessionError {
    /// A call of the API has no answer, or not all of one.
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

extension ApiAnswer {
    /// A refusal of the provider's says in its body what it is about; none that matters is longer.
    private static let longestRefusal = 1 << 16

    /// The same with all of its body, where it is a refusal and not a long one.
    fileprivate func readyToBeJudged() async -> ApiAnswer {
        guard let stream, (400..<500).contains(status), let whole = await stream.whole(atMost: Self.longestRefusal)
        else {
            return self
        }
        return ApiAnswer(status: status, headers: headers, body: whole)
    }
}
