import JunctionSession

/// Returns the error that `body` throws, or `nil`.
func thrown<Failure: Error, Value>(by body: () async throws(Failure) -> Value) async -> Failure? {
    do throws(Failure) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

extension IdentityProvider {
    func exchangeFailure(
        _ credential: Credential,
        expecting expected: Identity? = nil,
        store: PartialGrantStore = .none
    ) async -> ExchangeFailure? {
        await thrown { () throws(ExchangeFailure) in
            try await exchange(credential, expecting: expected, store: store)
        }
    }

    func renewalFailure(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer = .renew
    ) async -> RenewalFailure? {
        await thrown { () throws(RenewalFailure) in try await renew(identity, with: secrets, using: answer) }
    }
}

extension RenewalFailure {
    var unavailability: Unavailability? {
        guard case .unavailable(let why) = self else { return nil }
        return why
    }

    /// The reason for which the answer of a handler was refused.
    var refusal: String? {
        guard case .answerRefused(let reason) = self else { return nil }
        return reason
    }
}

extension ExchangeFailure {
    var unavailability: Unavailability? {
        guard case .unavailable(let why) = self else { return nil }
        return why
    }

    var refusal: String? {
        guard case .refused(let reason) = self else { return nil }
        return reason
    }
}

extension PollFailure {
    var unavailability: Unavailability? {
        guard case .unavailable(let why) = self else { return nil }
        return why
    }

    var refusal: String? {
        guard case .refused(let reason) = self else { return nil }
        return reason
    }
}

extension CredentialRefused {
    var reasonIfMalformed: String? { self == .malformed(reason) ? reason : nil }
    var reasonIfMisdescribed: String? { self == .misdescribed(reason) ? reason : nil }
    var reasonIfUnsupported: String? { self == .unsupported(reason) ? reason : nil }
}
