import JunctionSession

/// A provider with single-use refresh tokens and a clock. Its grace is the time for which it accepts the previous token
/// again. An older token revokes the whole family.
struct SimulatedProvider {
    /// The time for which a used refresh token is accepted again.
    enum Grace: CaseIterable {
        case none, fiveSeconds, thirtySeconds
        /// The previous token is always valid, and no family is ever revoked.
        case always

        var milliseconds: Int64 {
            switch self {
            case .none: 0
            case .fiveSeconds: 5_000
            case .thirtySeconds: 30_000
            case .always: .max
            }
        }
    }

    enum Verdict: Equatable {
        case granted(Tokens)
        /// The one-time credential is spent.
        case spent
        case deleted
        case reauthentication
    }

    struct Tokens: Equatable {
        var user: String
        var family: Int
        var refresh: Int
        var access: Int
        var life: Int64
        var at: Int64
    }

    /// A family that was revoked because a token was presented again too late.
    struct Loss: Equatable {
        var token: Int
        var consumedAt: Int64
        var at: Int64
    }

    /// The codes of a device sign-in.
    struct Codes: Equatable {
        var number: Int
        var life: Int64
        var interval: Int64
    }

    private struct Code {
        var endsAt: Int64
        var decision: Decision?
        var isRedeemed = false

        enum Decision: Equatable {
            case approved(String)
            case denied
        }
    }

    private struct RefreshToken {
        var family: Int
        var parent: Int?
        var children: [Int] = []
        var consumedAt: Int64?
        /// Whether a sibling of the token was used, so that the token never arrived.
        var isDead = false
    }

    private struct Family {
        var user: String
        var isRevoked = false
    }

    /// A link code, which can be used once.
    private struct Link {
        var user: String
        var isSpent = false
    }

    let grace: Grace
    private(set) var losses: [Loss] = []
    private var families: [Family] = []
    private var tokens: [Int: RefreshToken] = [:]
    /// The user and the end of each access token.
    private(set) var access: [Int: (user: String, family: Int, endsAt: Int64)] = [:]
    /// The grant of each refresh token.
    private var grants: [Int: Tokens] = [:]
    private var links: [Int: Link] = [:]
    private var last = 0
    private var codes: [Int: Code] = [:]
    var deleted: Set<String> = []
    var demandsReauthentication: Set<String> = []

    init(grace: Grace) {
        self.grace = grace
    }

    mutating func exchange(for user: String, life: Int64, at time: Int64) -> Verdict {
        guard !deleted.contains(user) else { return .deleted }
        demandsReauthentication.remove(user)
        families.append(Family(user: user))
        return .granted(issue(family: families.count - 1, parent: nil, life: life, at: time))
    }

    /// Returns the login of a refresh token.
    func family(of refresh: Int) -> Int? { tokens[refresh]?.family }

    func isRevoked(_ family: Int) -> Bool { families[family].isRevoked }

    mutating func revoke(_ family: Int) { families[family].isRevoked = true }

    /// Returns the grant of a refresh token.
    func tokens(of refresh: Int) -> Tokens? { grants[refresh] }

    // MARK: Link codes

    mutating func link(for user: String) -> Int {
        last += 1
        links[last] = Link(user: user)
        return last
    }

    func user(of link: Int) -> String? { links[link]?.user }

    /// Redeems a link code for a new session.
    mutating func redeem(_ link: Int, life: Int64, at time: Int64) -> Verdict {
        guard let known = links[link], !known.isSpent else { return .spent }
        links[link]?.isSpent = true
        return exchange(for: known.user, life: life, at: time)
    }

    // MARK: Device sign-ins

    mutating func authorize(at time: Int64) -> Codes {
        last += 1
        codes[last] = Code(endsAt: time + 600_000)
        return Codes(number: last, life: 600_000, interval: 5_000)
    }

    /// Approves a device sign-in as this user, or denies it.
    mutating func decide(_ code: Int, by user: String?) {
        guard codes[code]?.decision == nil else { return }
        codes[code]?.decision = user.map(Code.Decision.approved) ?? .denied
    }

    enum Polled {
        case granted(Tokens)
        case failed(PollFailure)
    }

    mutating func poll(_ code: Int, life: Int64, at time: Int64) -> Polled {
        guard let known = codes[code], !known.isRedeemed else { return .failed(.refused("invalid_grant")) }
        if time >= known.endsAt { return .failed(.expired) }
        switch known.decision {
        case nil: return .failed(.pending())
        case .denied: return .failed(.denied)
        case .approved(let user):
            if deleted.contains(user) { return .failed(.denied) }
            codes[code]?.isRedeemed = true
            demandsReauthentication.remove(user)
            families.append(Family(user: user))
            return .granted(issue(family: families.count - 1, parent: nil, life: life, at: time))
        }
    }

    /// Whether a person has approved the sign-in and a poll has fetched its session.
    func isRedeemed(_ code: Int) -> Bool { codes[code]?.isRedeemed ?? false }

    /// Returns the user who has approved, if the code is valid after this time and its session was not fetched yet.
    func awaitsPoll(_ code: Int, after time: Int64) -> String? {
        guard let known = codes[code], !known.isRedeemed, known.endsAt > time, case .approved(let user) = known.decision
        else { return nil }
        return user
    }

    /// Grants a renewal with an app's token or the user's name alone. It spends no refresh token.
    mutating func renew(_ user: String, life: Int64, at time: Int64) -> Verdict {
        guard !deleted.contains(user) else { return .deleted }
        families.append(Family(user: user))
        return .granted(issue(family: families.count - 1, parent: nil, life: life, at: time))
    }

    mutating func refresh(_ token: Int, life: Int64, at time: Int64) -> Verdict {
        guard let presented = tokens[token] else { return .reauthentication }
        let family = presented.family
        if deleted.contains(families[family].user) { return .deleted }
        if families[family].isRevoked || demandsReauthentication.contains(families[family].user) {
            return .reauthentication
        }
        if grace != .always {
            let isOutOfGrace = presented.consumedAt.map { time - $0 > grace.milliseconds } ?? false
            let isSuccessorUsed = presented.children.contains { tokens[$0]?.consumedAt != nil }
            if presented.isDead || isOutOfGrace || isSuccessorUsed {
                families[family].isRevoked = true
                losses.append(Loss(token: token, consumedAt: presented.consumedAt ?? time, at: time))
                return .reauthentication
            }
        }
        if presented.consumedAt == nil {
            tokens[token]?.consumedAt = time
            let siblings = presented.parent.flatMap { tokens[$0]?.children } ?? []
            for sibling in siblings where sibling != token { tokens[sibling]?.isDead = true }
        }
        return .granted(issue(family: family, parent: token, life: life, at: time))
    }

    private mutating func issue(family: Int, parent: Int?, life: Int64, at time: Int64) -> Tokens {
        last += 1
        let user = families[family].user
        let granted = Tokens(user: user, family: family, refresh: last, access: last, life: life, at: time)
        tokens[last] = RefreshToken(family: family, parent: parent)
        if let parent { tokens[parent]?.children.append(last) }
        access[last] = (user, family, time + life)
        grants[last] = granted
        return granted
    }
}
