import Glibc

/// Looks up the numeric ids of users and groups by name.
package struct AccountDirectory: Sendable {
    /// The name service did not answer, so it is unknown whether the account exists.
    package struct LookupFailed: Error, Equatable {
        package var reason: String

        package init(_ reason: String) {
            self.reason = reason
        }
    }

    private let userNumber: @Sendable (String) throws(LookupFailed) -> UInt32?
    private let groupNumber: @Sendable (String) throws(LookupFailed) -> UInt32?

    package init(
        user: @escaping @Sendable (String) throws(LookupFailed) -> UInt32?,
        group: @escaping @Sendable (String) throws(LookupFailed) -> UInt32?
    ) {
        userNumber = user
        groupNumber = group
    }

    package static let system = AccountDirectory(nameServices: NameServices.usualPath)

    /// The accounts of the services that a file like `nsswitch.conf` lists.
    package init(nameServices path: String) {
        let (users, groups) = (
            NameServices(database: "passwd", path: path), NameServices(database: "group", path: path)
        )
        self.init(
            user: { (name) throws(LookupFailed) in
                var account = passwd()
                return try users.find { getpwnam_r(name, &account, $0, $1, $2) } ? account.pw_uid : nil
            },
            group: { (name) throws(LookupFailed) in
                var account = Glibc.group()
                return try groups.find { getgrnam_r(name, &account, $0, $1, $2) } ? account.gr_gid : nil
            }
        )
    }

    /// Returns the same directory, which treats a known account that is not found any more as a failed look-up. The
    /// reason: some services report "no such account" when they cannot reach their server.
    package func requiringKnown(on known: KnownAccounts) -> AccountDirectory {
        AccountDirectory(
            user: { (name) throws(LookupFailed) in
                try Self.insist(known.users.contains(name), "user \"\(name)\"", try user(name))
            },
            group: { (name) throws(LookupFailed) in
                try Self.insist(known.groups.contains(name), "group \"\(name)\"", try group(name))
            }
        )
    }

    private static func insist(_ isKnown: Bool, _ name: String, _ found: UInt32?) throws(LookupFailed) -> UInt32? {
        guard isKnown, found == nil else { return found }
        throw LookupFailed(
            "\(name) was found when the rules in force were made and is not found now; if it was removed on purpose, remove "
                + "the entry or restart the daemon"
        )
    }

    /// Returns the user's id, or `nil` if there is no such user. A number is returned as it is, whether or not a user
    /// has it.
    package func user(_ name: String) throws(LookupFailed) -> UInt32? {
        if let number = Self.number(name) { number } else { try userNumber(name) }
    }

    /// Returns the group's id, or `nil` if there is no such group. A number is returned as it is.
    package func group(_ name: String) throws(LookupFailed) -> UInt32? {
        if let number = Self.number(name) { number } else { try groupNumber(name) }
    }

    /// Reads an id in decimal digits without leading zeros. `+5` and `005` could be names, and 2³²−1 is no id: the
    /// kernel uses it for "no user".
    private static func number(_ text: String) -> UInt32? {
        guard let number = UInt32(text), number != .max, "\(number)" == text else { return nil }
        return number
    }
}

/// The user and group names of the access entries in force that were found.
package struct KnownAccounts: Equatable, Sendable {
    var users: Set<String> = []
    var groups: Set<String> = []
}
