import JunctionSecret

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
        guard let open = requests[request], let credential = open.credential else {
            return report(attempt, .credentialGone)
        }
        approvalPermit = open.isAllowed
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
        let keeper = keeper(attempt, of: codes?.deviceCode)
        start { owner in
            do throws(PollFailure) {
                guard let codes else { throw .expired }
                let grant = try await owner.provider.poll(codes, keeper: keeper)
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

/// What sign-ins have been granted before they are complete.
extension SessionOwner {
    /// Keeps what this try is granted, and finds what an earlier try of the same credential was.
    func keeper(_ attempt: Attempt, of credential: SharedSecret?) -> PartialGrantKeeper {
        guard let credential else { return .none }
        let known = machine.partialGrants.items.map(\.secrets).first { ref in
            shelf.partialGrant(ref)?.credential.matches(credential) ?? false
        }
        if let known { machine.foundPartialGrant(attempt, known) }
        return PartialGrantKeeper(found: shelf.partialGrant(known)?.content) { [weak self] content in
            await self?.keep(PartialGrant(credential: credential, content: content), for: attempt) ?? false
        }
    }

    private func keep(_ grant: PartialGrant, for attempt: Attempt) async -> Bool {
        await withCheckedContinuation { continuation in
            waitingForDisk[attempt] = continuation
            let now = now
            apply(machine.partiallyGranted(attempt, shelf.put(grant), now: now), now)
        }
    }

    func goOn(_ attempt: Attempt, _ isWanted: Bool) {
        waitingForDisk.removeValue(forKey: attempt)?.resume(returning: isWanted)
    }
}

extension ExchangeFailure {
    static let credentialGone = unavailable(Unavailability("The credential of the sign-in is gone: sign in again"))
}
