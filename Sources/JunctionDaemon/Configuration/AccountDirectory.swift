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
    package static let system = AccountDirectory(
        user: { (name) throws(LookupFailed) in
            var account = passwd()
            return try found { getpwnam_r(name, &account, $0, $1, $2) } ? account.pw_uid : nil
        },
        group: { (name) throws(LookupFailed) in
            var account = Glibc.group()
            return try found { getgrnam_r(name, &account, $0, $1, $2) } ? account.gr_gid : nil
        }
    )

    /// The user's number, `nil` when there is no such user; a number stands for itself, whether or not it has a name.
    package func user(_ name: String) throws(LookupFailed) -> UInt32? {
        if let number = UInt32(name) { number } else { try userNumber(name) }
    }

    /// The group's number, `nil` when there is no such group; a number stands for itself.
    package func group(_ name: String) throws(LookupFailed) -> UInt32? {
        if let number = UInt32(name) { number } else { try groupNumber(name) }
    }

    /// Asks again with more room until the answer, with all members of a group, fits.
    private static func found<Account>(
        _ lookUp: (UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<Account>?>) -> Int32
    ) throws(LookupFailed) -> Bool {
        var size = 4_096
        while size <= 4 << 20 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { room.deallocate() }
            var result: UnsafeMutablePointer<Account>?
            switch lookUp(room, size, &result) {
            case 0: return result != nil
            // What getpwnam_r(3) lists as other ways of saying that there is none.
            case ENOENT, ESRCH: return false
            case ERANGE, EINTR: size *= 4
            case let failure: throw LookupFailed(String(cString: strerror(failure)))
            }
        }
        throw LookupFailed("the account is too large")
    }
}
