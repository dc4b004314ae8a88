import JunctionSecret

/// The secrets that the machine knows only by name. Only the owner holds them.
///
/// A secret stays until an event is over and no part of the machine names it. It is wiped when its last reference ends.
struct SecretStore {
    enum Secret: Sendable {
        case session(SessionSecrets)
        case answer(RenewalAnswer)
        case codes(DeviceCodes)
        case partialGrant(PartialGrant)
    }

    private var secrets: [SecretRef: Secret] = [:]
    private var last: UInt64 = 0

    /// Stores a secret and returns its name. Equal API keys have one name, which shows the machine whether a key was
    /// replaced.
    mutating func put(_ secret: Secret) -> SecretRef {
        if case .session(let new) = secret, let key = new.apiKey,
            let same = secrets.keys.first(where: { session($0)?.apiKey?.matches(key) == true })
        {
            return same
        }
        last += 1
        let ref = SecretRef(number: last)
        secrets[ref] = secret
        return ref
    }

    mutating func keep(_ used: Set<SecretRef>) {
        guard secrets.keys.contains(where: { !used.contains($0) }) else { return }
        secrets = secrets.filter { used.contains($0.key) }
    }

    func session(_ ref: SecretRef?) -> SessionSecrets? {
        if case .session(let secrets)? = ref.flatMap({ secrets[$0] }) { secrets } else { nil }
    }

    func answer(_ ref: SecretRef?) -> RenewalAnswer? {
        if case .answer(let answer)? = ref.flatMap({ secrets[$0] }) { answer } else { nil }
    }

    func codes(_ ref: SecretRef?) -> DeviceCodes? {
        if case .codes(let codes)? = ref.flatMap({ secrets[$0] }) { codes } else { nil }
    }

    func partialGrant(_ ref: SecretRef?) -> PartialGrant? {
        if case .partialGrant(let grant)? = ref.flatMap({ secrets[$0] }) { grant } else { nil }
    }

    var count: Int { secrets.count }
}
