package import JunctionServer

extension AccessEntry {
    /// The rule for the server, by the numbers that the kernel tells it. One that names somebody who does not exist stays
    /// in its place and matches nobody: without it the list could be empty, which means something else.
    fileprivate func rule(by accounts: AccountDirectory) throws(AccountDirectory.LookupFailed) -> AccessRule {
        var rule = AccessRule(allow: allow, unit: unit)
        if let user {
            rule.user = try accounts.user(user)
            rule.matchesNobody = rule.user == nil
        }
        if let group {
            rule.group = try accounts.group(group)
            rule.matchesNobody = rule.matchesNobody || rule.group == nil
        }
        return rule
    }
}

extension Configuration {
    /// The access policy's rules, and a line about each entry whose user or group does not exist.
    ///
    /// It throws when the name service does not answer: a policy that may lack a denying entry is not put in force.
    ///
    /// - Parameter names: how to call each entry.
    package func accessRules(by accounts: AccountDirectory, naming names: [String]) throws(UndecidedAccess) -> (
        rules: [AccessRule], notes: [String]
    ) {
        var rules: [AccessRule] = []
        var notes: [String] = []
        for (index, entry) in access.enumerated() {
            do throws(AccountDirectory.LookupFailed) {
                rules.append(try entry.rule(by: accounts))
            } catch {
                throw UndecidedAccess(entry: names[index], error)
            }
            if rules[index].matchesNobody {
                let name = [entry.user.map { "user \"\($0)\"" }, entry.group.map { "group \"\($0)\"" }]
                    .compactMap(\.self).joined(separator: " or ")
                notes.append("\(names[index]) matches nobody: there is no \(name) on this machine")
            }
        }
        return (rules, notes)
    }

    /// Whom these rules, which were made of this configuration, have found.
    package func accounts(foundFor rules: [AccessRule]) -> KnownAccounts {
        var known = KnownAccounts()
        for (entry, rule) in zip(access, rules) {
            if let user = entry.user, rule.user != nil { known.users.insert(user) }
            if let group = entry.group, rule.group != nil { known.groups.insert(group) }
        }
        return known
    }
}
