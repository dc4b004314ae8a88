import JunctionSecret

/// The secrets that the machine knows by name only; nothing but the owner ever holds them.
///
/// What is put here stays until an event is over and no part of the machine names it any more; it is wiped with its last
/// user then.
struct SecretShelf {
    private var sessions: [SecretRef: SessionSecrets] = [:]
    /// What handlers gave.
    private var answers: [SecretRef: RenewalAnswer] = [:]
    /// The codes of sign-ins that await approval.
    private var codes: [SecretRef: DeviceCodes] = [:]
    private var partialGrants: [SecretRef: PartialGrant] = [:]
    private var last: UInt64 = 0

    /// Equal API keys have one name, by which the machine knows a key that was rotated.
    mutating func put(_ secrets: SessionSecrets) -> SecretRef {
        if let key = secrets.apiKey, let same = sessions.first(where: { $0.value.apiKey?.matches(key) == true }) {
            return same.key
        }
        let ref = next()
        sessions[ref] = secrets
        return ref
    }

    mutating func put(_ answer: RenewalAnswer) -> SecretRef {
        let ref = next()
        answers[ref] = answer
        return ref
    }

    mutating func put(_ codes: DeviceCodes) -> SecretRef {
        let ref = next()
        self.codes[ref] = codes
        return ref
    }

    mutating func put(_ grant: PartialGrant) -> SecretRef {
        let ref = next()
        partialGrants[ref] = grant
        return ref
    }

    private mutating func next() -> SecretRef {
        last += 1
        return SecretRef(number: last)
    }

    /// Lets go of everything else.
    mutating func keep(_ used: Set<SecretRef>) {
        if sessions.keys.contains(where: { !used.contains($0) }) {
            sessions = sessions.filter { used.contains($0.key) }
        }
        if answers.keys.contains(where: { !used.contains($0) }) { answers = answers.filter { used.contains($0.key) } }
        if codes.keys.contains(where: { !used.contains($0) }) { codes = codes.filter { used.contains($0.key) } }
        if partialGrants.keys.contains(where: { !used.contains($0) }) {
            partialGrants = partialGrants.filter { used.contains($0.key) }
        }
    }

    func partialGrant(_ ref: SecretRef?) -> PartialGrant? { ref.flatMap { partialGrants[$0] } }

    func secrets(_ ref: SecretRef?) -> SessionSecrets? { ref.flatMap { sessions[$0] } }

    func answer(_ ref: SecretRef?) -> RenewalAnswer? { ref.flatMap { answers[$0] } }

    func codes(_ ref: SecretRef?) -> DeviceCodes? { ref.flatMap { codes[$0] } }

    /// How many secrets are held.
    var count: Int { sessions.count + answers.count + codes.count + partialGrants.count }
}
