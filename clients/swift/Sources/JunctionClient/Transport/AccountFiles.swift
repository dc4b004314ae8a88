import Glibc

/// The users and groups in the machine's account files.
///
/// Name services are not used: a statically linked program cannot load them, and the package's group is in the file.
package struct AccountFiles: Sendable {
    /// One line of the group file.
    package struct Group: Hashable, Sendable {
        package var name: String
        package var number: UInt32
        package var members: [String]
    }

    private let users: [(name: String, number: UInt32, group: UInt32)]
    private let groups: [Group]

    /// - Parameters:
    ///   - users: the content of `/etc/passwd`.
    ///   - groups: the content of `/etc/group`.
    package init(users: String, groups: String) {
        self.users = Self.lines(of: users).compactMap { fields in
            guard fields.count > 3, let number = UInt32(fields[2]), let group = UInt32(fields[3]) else { return nil }
            return (fields[0], number, group)
        }
        self.groups = Self.lines(of: groups).compactMap { fields in
            guard fields.count > 3, let number = UInt32(fields[2]) else { return nil }
            return Group(name: fields[0], number: number, members: fields[3].split(separator: ",").map(String.init))
        }
    }

    /// The present files of this machine. A file that cannot be read counts as empty.
    package static var ofThisMachine: AccountFiles {
        AccountFiles(users: text(of: "/etc/passwd"), groups: text(of: "/etc/group"))
    }

    package func name(ofUser number: UInt32) -> String? { users.first { $0.number == number }?.name }

    package func name(ofGroup number: UInt32) -> String? { groups.first { $0.number == number }?.name }

    package func number(ofGroup name: String) -> UInt32? { groups.first { $0.name == name }?.number }

    /// Returns the groups of a user according to the files. A present login of that user may have others.
    package func groups(ofUser number: UInt32) -> [Group] {
        guard let user = users.first(where: { $0.number == number }) else { return [] }
        return groups.filter { $0.number == user.group || $0.members.contains(user.name) }
    }

    private static func lines(of text: String) -> [[String]] {
        text.split(separator: "\n").map { line in
            line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        }
    }

    fileprivate static func text(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < 1 << 20 {
            let count = read(file, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The system service of a process.
enum SystemService {
    /// The service of this process; `nil` in a login session, or if the control groups do not name a service.
    static var ofThisProcess: String? { name(in: AccountFiles.text(of: "/proc/self/cgroup")) }

    /// - Parameter groups: the content of `/proc/PID/cgroup`.
    static func name(in groups: String) -> String? {
        let fields = groups.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 2) }
        // In cgroup 2, the second field is empty, and `split` drops it.
        let path =
            fields.first { $0.first == "0" && $0.count == 2 } ?? fields.first { $0.dropFirst().first == "name=systemd" }
        let unit = path?.last?.split(separator: "/").first { !$0.hasSuffix(".slice") }
        // A login session is in `session-3.scope` or `user@1000.service`.
        guard let unit, unit.hasSuffix(".service"), !unit.hasPrefix("user@") else { return nil }
        return String(unit)
    }
}

/// The user and groups of a process. The kernel fixes the groups when a login begins.
package struct Login: Hashable, Sendable {
    package var user: UInt32
    package var groups: Set<UInt32>

    package static var current: Login {
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return Login(user: geteuid(), groups: Set(groups.prefix(Int(max(0, count)))).union([getegid()]))
    }

    /// Returns the user's groups that this login lacks because it is older than the membership.
    package func missing(in accounts: AccountFiles) -> [AccountFiles.Group] {
        accounts.groups(ofUser: user).filter { !groups.contains($0.number) }
    }
}
