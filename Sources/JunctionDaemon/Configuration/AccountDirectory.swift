import Glibc

/// Turns the names of users and groups into the numbers that the kernel knows.
package struct AccountDirectory: Sendable {
    private let userNumber: @Sendable (String) -> UInt32?
    private let groupNumber: @Sendable (String) -> UInt32?

    package init(
        user: @escaping @Sendable (String) -> UInt32?,
        group: @escaping @Sendable (String) -> UInt32?
    ) {
        userNumber = user
        groupNumber = group
    }

    /// The accounts of this machine.
    package static let system = AccountDirectory(
        user: { name in
            var account = passwd()
            return found { getpwnam_r(name, &account, $0, $1, $2) } ? account.pw_uid : nil
        },
        group: { name in
            var account = Glibc.group()
            return found { getgrnam_r(name, &account, $0, $1, $2) } ? account.gr_gid : nil
        }
    )

    /// The user's number; a number stands for itself, whether or not it has a name.
    package func user(_ name: String) -> UInt32? { UInt32(name) ?? userNumber(name) }

    /// The group's number; a number stands for itself, whether or not it has a name.
    package func group(_ name: String) -> UInt32? { UInt32(name) ?? groupNumber(name) }

    /// Asks again with more room until the answer, with all members of a group, fits.
    private static func found<Account>(
        _ lookUp: (UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<Account>?>) -> Int32
    ) -> Bool {
        var size = 4_096
        while size <= 4 << 20 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { room.deallocate() }
            var result: UnsafeMutablePointer<Account>?
            let failure = lookUp(room, size, &result)
            if failure != ERANGE { return failure == 0 && result != nil }
            size *= 4
        }
        return false
    }
}
