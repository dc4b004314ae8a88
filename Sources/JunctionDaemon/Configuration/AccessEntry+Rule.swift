package import JunctionServer

extension AccessEntry {
    /// Returns the rule for the server, with numeric user and group ids. An entry whose user or group does not exist
    /// stays in the list and matches no caller. Without it the list could become empty, which has another meaning.
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
    /// Returns the rules of the access policy, and one line for each entry whose user or group does not exist or names
    /// no caller reliably.
    ///
    /// It throws if the name service does not answer: the daemon must not run with a policy that may lack a denying
    /// entry.
    ///
    /// - Parameter names: the name of each entry, for messages.
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
            } else if [rules[index].user, rules[index].group].contains(Peer.unmapped) {
                notes.append(
                    "\(names[index]) allows nothing: 65534 (nobody) is the number of every user and group that the kernel "
                        + "cannot name to the daemon; name a user, a group or a unit of the caller's own"
                )
            }
        }
        return (rules, notes)
    }

    /// Returns the users and groups that were found for these rules, which were made from this configuration.
    package func accounts(foundFor rules: [AccessRule]) -> KnownAccounts {
        var known = KnownAccounts()
        for (entry, rule) in zip(access, rules) {
            if let user = entry.user, rule.user != nil { known.users.insert(user) }
            if let group = entry.group, rule.group != nil { known.groups.insert(group) }
        }
        return known
    }
}
