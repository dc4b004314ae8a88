import JunctionSecret

/// Sign-ins: the requests to the provider, and partial grants.
extension SessionOwner {
    /// The codes of the pending device sign-in, for callers with the right to manage the session.
    package var codes: DeviceCodes? { secretStore.codes(machine.signIn.device?.codes) }

    /// Answers with the address of the provider's page for a sign-in in a browser. The provider may need a request to
    /// find it.
    package func authorizationPage(
        _ page: AuthorizationPage,
        by uid: UInt32,
        answer: @escaping @Sendable (Result<String, SessionError>) -> Void
    ) {
        start { owner in
            do throws(AuthorizationPageFailure) {
                if let refusal = owner.providerCallBegan(by: uid) { throw .refused(refusal) }
                answer(.success(try await owner.provider.authorizationPage(page)))
            } catch {
                if case .unavailable(let failure) = error {
                    let reason = Unavailability(error.refusal, cause: failure.cause, host: failure.host)
                    owner.observer.happened(.authorizationPageFailed(reason))
                }
                answer(.failure(error.refusal))
            }
        }
    }

    func exchange(
        _ attempt: AttemptID,
        _ request: RequestID,
        completedWith handlerSecret: SecretRef?,
        expecting expected: Identity?
    ) {
        let credential = requests[request]?.credential?.completed(with: secretStore.answer(handlerSecret))
        let store = partialGrantStore(attempt, of: credential?.oneTimeSecret)
        start { owner in
            do throws(ExchangeFailure) {
                guard let credential else { throw .credentialGone }
                let grant = try await owner.provider.exchange(credential, expecting: expected, store: store)
                let granted = owner.put(grant)
                owner.handle { $0.exchangeSucceeded(attempt, granted, now: $1) }
            } catch {
                let host = credential.flatMap(owner.provider.host)
                owner.handle { $0.exchangeFailed(attempt, error, by: host, now: $1) }
            }
        }
    }

    // MARK: Device sign-in

    func requestDeviceAuthorization(_ attempt: AttemptID, _ request: RequestID) {
        let credential = requests[request]?.credential
        let caller = requests[request]?.caller
        deviceSignInPermit = requests[request]?.isAllowed
        start { owner in
            do throws(ExchangeFailure) {
                guard let credential else { throw .credentialGone }
                let begun = try await owner.provider.requestDeviceAuthorization(credential)
                let codes = owner.secretStore.put(.codes(begun.codes))
                owner.handle {
                    $0.deviceSignInBegan(
                        attempt,
                        codes,
                        life: begun.life,
                        interval: begun.interval,
                        by: caller,
                        now: $1
                    )
                }
            } catch {
                let host = credential.flatMap(owner.provider.host)
                owner.handle { $0.exchangeFailed(attempt, error, by: host, now: $1) }
            }
        }
    }

    func poll(_ attempt: AttemptID, with ref: SecretRef) {
        let codes = secretStore.codes(ref)
        let store = partialGrantStore(attempt, of: codes?.deviceCode)
        start { owner in
            do throws(PollFailure) {
                guard let codes else { throw .expired }
                let grant = try await owner.provider.poll(codes, store: store)
                owner.observer.reached(.answered)
                let granted = owner.put(grant)
                owner.handle { $0.exchangeSucceeded(attempt, granted, now: $1) }
            } catch {
                let host = owner.provider.host(of: .device)
                owner.handle { $0.pollFailed(attempt, error, by: host, now: $1) }
            }
        }
    }

    // MARK: Partial grants

    /// Returns the store for the partial grants of this attempt. It finds the grant of an earlier attempt with the same
    /// credential.
    func partialGrantStore(_ attempt: AttemptID, of credential: SharedSecret?) -> PartialGrantStore {
        guard let credential else { return .none }
        let known = machine.grants.secrets.first { ref in
            secretStore.partialGrant(ref)?.credential.matches(credential) ?? false
        }
        // In a task of its own, because the owner is still performing the effects of the event that began this attempt.
        if let known { start { owner in owner.handle { $0.foundPartialGrant(attempt, known, now: $1) } } }
        return PartialGrantStore(found: secretStore.partialGrant(known)?.content) { [weak self] content in
            await self?.keep(PartialGrant(credential: credential, content: content), for: attempt) ?? false
        }
    }

    private func keep(_ grant: PartialGrant, for attempt: AttemptID) async -> Bool {
        let ref = secretStore.put(.partialGrant(grant))
        return await withCheckedContinuation { continuation in
            waitingForDisk[attempt] = continuation
            handle { $0.partiallyGranted(attempt, ref, now: $1) }
        }
    }
}

extension ExchangeFailure {
    fileprivate static let credentialGone = unavailable(
        Unavailability("The credential of the sign-in is gone: sign in again")
    )
}

extension Credential {
    /// Returns this credential with a handler's token, if it is a registration without a token.
    func completed(with answer: RenewalAnswer?) -> Credential {
        guard case .registration(let userId, nil) = self, let answer else { return self }
        return switch answer {
        case .renew: self
        case .authToken(let token): .registration(userId: userId, token: token)
        case .signature(let signature, let sequence):
            .registrationSignature(userId: userId, signature: signature, sequence: sequence)
        }
    }
}
