/// Calls to the provider's API as the signed-in user. The credential never leaves the daemon.
extension SessionOwner {
    /// Sends one request; a 401 costs one renewal and one retry, and is then reported as it is.
    ///
    /// - Parameter isAllowed: asked each time before a request leaves.
    package func call(
        _ request: ApiRequest,
        by uid: UInt32,
        while isAllowed: @escaping @Sendable () -> Bool = { true },
        answer: @escaping @Sendable (Result<ApiAnswer, Refusal>) -> Void
    ) {
        start { owner in
            do throws(Refusal) {
                answer(.success(try await owner.call(request, by: uid, while: isAllowed)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    private func call(
        _ request: ApiRequest,
        by uid: UInt32,
        while isAllowed: () -> Bool
    ) async throws(Refusal) -> ApiAnswer {
        // Whether the path is the user's own is decided before anything is renewed for its sake.
        if let identity = machine.identity { _ = try provider.admit(request.naming(identity.userId), for: identity) }
        _ = try await authorization(by: uid)
        // The credential is the one of this moment: a rotation may have come in between.
        guard let identity = machine.identity else { throw .notSignedIn }
        let generation = machine.servedGeneration
        let answer = try await send(request, for: identity, countedFor: uid, while: isAllowed)
        guard answer.status == 401 else { return answer }
        do throws(Refusal) {
            guard try await isReplaced(generation, by: uid) else { return answer }
            // What was sent while it came is not there any more: the next request is the one that has the new credential.
            guard request.upload == nil else { return answer }
            // The retry belongs to the call that caused it: it is not counted again.
            let second = try await send(request, for: identity, countedFor: nil, while: isAllowed)
            answer.stream?.abandon()
            return second
        } catch {
            // The call was made for one user, and is not made again as another.
            if machine.identity?.isSameUser(as: identity) == false { return answer }
            answer.stream?.abandon()
            throw error
        }
    }

    private func send(
        _ request: ApiRequest,
        for user: Identity,
        countedFor uid: UInt32?,
        while isAllowed: () -> Bool
    ) async throws(Refusal) -> ApiAnswer {
        guard isAllowed() else { throw Refusal(.permissionDenied, "This caller may not call the API any more") }
        // Looked up anew each time: a sign-out or another user may have come in between.
        guard let identity = machine.identity, identity.isSameUser(as: user), let secrets = servedSecrets else {
            throw .notSignedIn
        }
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
            throw Refusal(ofCall: error)
        }
        if let verdict = provider.verdict(in: answer) {
            let now = now
            apply(machine.apiCallJudged(verdict, generation: generation, now: now), now)
        }
        return answer
    }

    /// Bodies pass for as long as the user is the one that the call was made for.
    private func keep(_ stream: BodyStream, for identity: Identity) {
        streams.removeAll { $0.body.isOver }
        streams.append((stream, identity))
        endStreams()
    }

    /// Breaks off what passes for somebody who is not signed in any more.
    func endStreams() {
        guard !streams.isEmpty else { return }
        let ended = streams.filter { machine.identity?.isSameUser(as: $0.user) != true }
        guard !ended.isEmpty else { return }
        streams.removeAll { machine.identity?.isSameUser(as: $0.user) != true }
        for stream in ended { stream.body.breakOff(Unavailability("The user for whom this was sent has signed out")) }
    }

    /// A request to the provider is about to leave for this user's sake, and none of the session's: why it may not, if so.
    package func providerCallBegan(by uid: UInt32) -> Refusal? {
        machine.providerCallBegan(by: uid, now: now)
    }

    private func authorization(by uid: UInt32) async throws(Refusal) -> Authorization {
        try await authorization(by: uid) { machine, request, now in
            machine.authorizationRequested(request, by: uid, now: now)
        }
    }

    /// Whether there is a newer credential than the one that the API has rejected; where none can be had now, the 401 is
    /// what is reported, unless it is only the user's limit that stands in the way.
    private func isReplaced(_ generation: UInt64, by uid: UInt32) async throws(Refusal) -> Bool {
        do throws(Refusal) {
            let authorization = try await authorization(by: uid) { machine, request, now in
                machine.authorizationRejected(request, generation: generation, by: uid, now: now)
            }
            return authorization != .rejectionStands
        } catch {
            if error.kind == .busy, machine.refusalOfRenewal(by: uid, now: now) != nil { throw error }
            switch error.kind {
            case .busy, .providerUnavailable, .tokenExpired, .reauthenticationRequired: break
            case .alreadySignedIn, .invalidCredential, .notSignedIn, .sessionTerminated, .permissionDenied: throw error
            case .incompatibleCredential, .storageUnavailable, .unsupported, .invalidParameters: throw error
            }
            return false
        }
    }

    private func authorization(
        by uid: UInt32,
        for event: (inout SessionMachine, AuthorizationRequest, Moment) -> [Effect]
    ) async throws(Refusal) -> Authorization {
        let outcome = await withCheckedContinuation { continuation in
            let now = now
            let request: AuthorizationRequest = newRequest()
            authorizations[request] = { continuation.resume(returning: $0) }
            apply(event(&machine, request, now), now)
        }
        return try outcome.get()
    }
}

extension Refusal {
    /// A call of the API has no answer, or not all of one.
    package init(ofCall error: Unavailability) {
        self.init(
            .providerUnavailable,
            error.message,
            retryAfter: error.retryAfter,
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
