@testable import JunctionSession

/// A provider with single-use refresh tokens and a reuse grace, as FAPI 2.0 asks for: the token before the newest one
/// is accepted until the newest has been used. An older one is taken for theft, and the whole family is revoked.
struct SimulatedCloud {
    struct Family: Equatable {
        var user: String
        /// The last token that was presented; what it brought is not proven to have arrived.
        var confirmed: Int
        var successors: [Int] = []
        var isRevoked = false
    }

    enum Verdict: Equatable {
        case granted(user: String, refreshToken: Int)
        case deleted
        case reauthentication
    }

    private(set) var families: [Family] = []
    private var familyOfToken: [Int: Int] = [:]
    private var lastToken = 0
    var deleted: Set<String> = []
    var demandsReauthentication: Set<String> = []

    mutating func exchange(for user: String) -> Verdict {
        guard !deleted.contains(user) else { return .deleted }
        demandsReauthentication.remove(user)
        let token = newToken(family: families.count)
        families.append(Family(user: user, confirmed: token))
        return .granted(user: user, refreshToken: token)
    }

    mutating func refresh(_ token: Int) -> Verdict {
        guard let index = familyOfToken[token] else { return .reauthentication }
        let user = families[index].user
        if deleted.contains(user) { return .deleted }
        if demandsReauthentication.contains(user) || families[index].isRevoked { return .reauthentication }
        if families[index].successors.contains(token) {
            families[index].confirmed = token
            families[index].successors = []
        } else if families[index].confirmed != token {
            families[index].isRevoked = true
            return .reauthentication
        }
        let successor = newToken(family: index)
        families[index].successors.append(successor)
        return .granted(user: user, refreshToken: successor)
    }

    var revokedFamilies: Int { families.count { $0.isRevoked } }

    private mutating func newToken(family: Int) -> Int {
        lastToken += 1
        familyOfToken[lastToken] = family
        return lastToken
    }
}
