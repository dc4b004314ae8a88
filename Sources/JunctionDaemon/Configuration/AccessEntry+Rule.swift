package import JunctionServer

extension AccessEntry {
    /// The rule for the server, by the numbers that the kernel tells it; `nil` when it is about nobody on this machine.
    func rule(by accounts: AccountDirectory) -> AccessRule? {
        var rule = AccessRule(allow: allow, unit: unit)
        if let user {
            guard let number = accounts.user(user) else { return nil }
            rule.user = number
        }
        if let group {
            guard let number = accounts.group(group) else { return nil }
            rule.group = number
        }
        return rule
    }
}

extension Configuration {
    /// The access policy's rules, and a line about each entry whose user or group does not exist.
    ///
    /// Such an entry is left out, which is what it says: it matches nobody.
    package func accessRules(by accounts: AccountDirectory) -> (rules: [AccessRule], notes: [String]) {
        var rules: [AccessRule] = []
        var notes: [String] = []
        for (index, entry) in access.enumerated() {
            if let rule = entry.rule(by: accounts) {
                rules.append(rule)
            } else {
                notes.append("access[\(index)] names a user or group that does not exist: it applies to nobody")
            }
        }
        return (rules, notes)
    }
}
