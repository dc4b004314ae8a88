import FoundationEssentials

/// Credentials that are not spent (link codes, auth tokens, subject tokens), and fingerprints of spent one-time values.
struct Proofs: Codable, Sendable {
    private struct Voucher: Codable {
        let kind: String
        let user: String
        let expiresAt: Date
        let isSingleUse: Bool
    }

    private struct Spent: Codable {
        let holder: String?
        let expiresAt: Date
    }

    /// By fingerprints: link codes, auth tokens, and the subject tokens of token exchanges.
    private var vouchers: [String: Voucher] = [:]
    /// By fingerprints: Sign-In Tokens, nonces, and client assertions.
    private var spent: [String: Spent] = [:]

    /// Makes a text known that speaks for a user.
    mutating func vouch(
        _ text: String,
        kind: String,
        for user: String,
        isSingleUse: Bool = false,
        until expiresAt: Date = .distantFuture
    ) {
        vouchers[TokenText.fingerprint(text)] = Voucher(
            kind: kind,
            user: user,
            expiresAt: expiresAt,
            isSingleUse: isSingleUse
        )
    }

    /// Whom a text speaks for, if it is good.
    func user(_ text: String, kind: String, now: Date) -> String? {
        guard let known = vouchers[TokenText.fingerprint(text)], known.kind == kind, now < known.expiresAt else {
            return nil
        }
        return known.user
    }

    /// The same, and a text for single use is gone.
    mutating func redeem(_ text: String, kind: String, now: Date) -> String? {
        let user = user(text, kind: kind, now: now)
        let fingerprint = TokenText.fingerprint(text)
        if user != nil, vouchers[fingerprint]?.isSingleUse == true { vouchers[fingerprint] = nil }
        return user
    }

    /// Forgets a text that speaks for a user.
    mutating func forget(_ text: String) {
        vouchers[TokenText.fingerprint(text)] = nil
    }

    /// Notes that a text was shown, which has to be remembered until a moment.
    ///
    /// - Parameter holder: who may show it again, because an answer may have been lost; `nil` for nobody.
    /// - Returns: whether this is the first time, or the same holder again.
    mutating func spend(_ text: String, by holder: String? = nil, until expiresAt: Date, now: Date) -> Bool {
        spent = spent.filter { now < $0.value.expiresAt }
        let fingerprint = TokenText.fingerprint(text)
        if let known = spent[fingerprint], holder == nil || known.holder != holder { return false }
        spent[fingerprint] = Spent(holder: holder, expiresAt: expiresAt)
        return true
    }
}
