import Glibc

/// Turns the names of users and groups into the numbers that the kernel knows.
package struct AccountDirectory: Sendable {
    /// The name service did not answer: whether there is such an account is not known.
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

    /// The accounts of this machine.
    package static let system = AccountDirectory(nameServices: NameServices.usualPath)

    /// The accounts that the services know which a file like `nsswitch.conf` lists.
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

    /// The same, for somebody who knows that these exist: that one of them is not found any more counts as a look-up that
    /// failed. Some services say "there is none" of whom they cannot ask their server about.
    package func insisting(on known: KnownAccounts) -> AccountDirectory {
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

    /// The user's number, `nil` when there is no such user; a number stands for itself, whether or not it has a name.
    package func user(_ name: String) throws(LookupFailed) -> UInt32? {
        if let number = UInt32(name) { number } else { try userNumber(name) }
    }

    /// The group's number, `nil` when there is no such group; a number stands for itself.
    package func group(_ name: String) throws(LookupFailed) -> UInt32? {
        if let number = UInt32(name) { number } else { try groupNumber(name) }
    }
}

/// The names that access entries in force are about, and that were found.
package struct KnownAccounts: Equatable, Sendable {
    var users: Set<String>
    var groups: Set<String>

    package init(users: Set<String> = [], groups: Set<String> = []) {
        self.users = users
        self.groups = groups
    }
}
