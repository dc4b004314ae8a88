import JunctionSession

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
