/// Sign-ins that a person approves on another screen.
extension SessionOwner {
    /// The codes of the sign-in that awaits approval, if there is one: for callers who may manage the session.
    package var codes: DeviceCodes? { shelf.codes(machine.approval.codes) }

    /// The provider's page for a sign-in by a browser: the provider may have to be asked where that is.
    package func authorizationPage(
        _ page: AuthorizationPage,
        by uid: UInt32,
        answer: @escaping @Sendable (Result<String, Refusal>) -> Void
    ) {
        start { owner in
            do throws(Refusal) {
                if let refusal = owner.providerCallBegan(by: uid) { throw refusal }
                answer(.success(try await owner.provider.authorizationPage(page)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    func authorize(_ attempt: Attempt, _ request: RequestID) {
        guard let credential = credentials[request] else { return report(attempt, .credentialGone) }
        start { owner in
            do throws(ExchangeFailure) {
                let begun = try await owner.provider.authorize(credential)
                let now = owner.now
                let codes = owner.shelf.put(begun.codes)
                let seen = ApprovalBegun(codes: codes, life: begun.life, interval: begun.interval)
                owner.apply(owner.machine.approvalBegan(attempt, seen, now: now), now)
            } catch {
                let now = owner.now
                owner.apply(owner.machine.exchangeFailed(attempt, error, now: now), now)
            }
        }
    }

    func poll(_ attempt: Attempt, with ref: SecretRef) {
        let codes = shelf.codes(ref)
        start { owner in
            do throws(PollFailure) {
                guard let codes else { throw .expired }
                let grant = try await owner.provider.poll(codes)
                owner.observer.reached(.answered)
                let now = owner.now
                owner.apply(owner.machine.exchangeSucceeded(attempt, owner.put(grant), now: now), now)
            } catch {
                let now = owner.now
                owner.apply(owner.machine.pollFailed(attempt, error, now: now), now)
            }
        }
    }
}

extension ExchangeFailure {
    static let credentialGone = unavailable(Unavailability("The credential of the sign-in is gone: sign in again"))
}
