import FoundationEssentials

/// Unused credentials (link codes, auth tokens, subject tokens), and the fingerprints of used one-time values.
struct Proofs: Codable, Sendable {
    private struct IssuedCredential: Codable {
        let kind: String
        let user: String
        let expiresAt: Date
        let isSingleUse: Bool
    }

    private struct Spent: Codable {
        let holder: String?
        let expiresAt: Date
    }

    /// The link codes, auth tokens and subject tokens, by fingerprint.
    private var vouchers: [String: IssuedCredential] = [:]
    /// The used Sign-In Tokens, nonces and client assertions, by fingerprint.
    private var spent: [String: Spent] = [:]

    /// Stores a credential of a user.
    mutating func issueCredential(
        _ text: String,
        kind: String,
        for user: String,
        isSingleUse: Bool = false,
        until expiresAt: Date = .distantFuture
    ) {
        vouchers[TokenText.fingerprint(text)] = IssuedCredential(
            kind: kind,
            user: user,
            expiresAt: expiresAt,
            isSingleUse: isSingleUse
        )
    }

    func user(_ text: String, kind: String, now: Date) -> String? {
        guard let known = vouchers[TokenText.fingerprint(text)], known.kind == kind, now < known.expiresAt else {
            return nil
        }
        return known.user
    }

    /// Returns the user of a valid credential, and deletes the credential if it is for single use.
    mutating func redeem(_ text: String, kind: String, now: Date) -> String? {
        let user = user(text, kind: kind, now: now)
        let fingerprint = TokenText.fingerprint(text)
        if user != nil, vouchers[fingerprint]?.isSingleUse == true { vouchers[fingerprint] = nil }
        return user
    }

    mutating func forget(_ text: String) {
        vouchers[TokenText.fingerprint(text)] = nil
    }

    /// Marks a one-time value as used until `expiresAt`.
    ///
    /// - Parameter holder: The client that may send the value again, because the first answer may have been lost. With
    ///   `nil`, no client may.
    /// - Returns: Whether this is the first use, or a repetition by the same holder.
    mutating func spend(_ text: String, by holder: String? = nil, until expiresAt: Date, now: Date) -> Bool {
        spent = spent.filter { now < $0.value.expiresAt }
        let fingerprint = TokenText.fingerprint(text)
        if let known = spent[fingerprint], holder == nil || known.holder != holder { return false }
        spent[fingerprint] = Spent(holder: holder, expiresAt: expiresAt)
        return true
    }
}
