import Glibc

/// The users and groups that are listed in the machine's own files.
///
/// Name services are not asked: a program that is linked static cannot load them, and the group of the package is in the file.
package struct AccountFiles: Sendable {
    /// One line of the file of the groups.
    package struct Group: Hashable, Sendable {
        package var name: String
        package var number: UInt32
        package var members: [String]
    }

    private let users: [(name: String, number: UInt32, group: UInt32)]
    private let groups: [Group]

    /// - Parameters:
    ///   - users: as in `/etc/passwd`.
    ///   - groups: as in `/etc/group`.
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

    /// As they are now; a file that cannot be read lists nobody.
    package static var ofThisMachine: AccountFiles {
        AccountFiles(users: text(of: "/etc/passwd"), groups: text(of: "/etc/group"))
    }

    /// What a user is called.
    package func name(ofUser number: UInt32) -> String? { users.first { $0.number == number }?.name }

    /// What a group is called.
    package func name(ofGroup number: UInt32) -> String? { groups.first { $0.number == number }?.name }

    /// The groups that a user is in by the files, whatever a login of theirs has by now.
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

/// The system service that a process runs in.
enum SystemService {
    /// Of this process; `nil` in a login session, and where the control groups do not say.
    static var ofThisProcess: String? { name(in: AccountFiles.text(of: "/proc/self/cgroup")) }

    /// - Parameter groups: as in `/proc/PID/cgroup`.
    static func name(in groups: String) -> String? {
        let fields = groups.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 2) }
        // The second field is empty with cgroup 2, and does not count then.
        let path =
            fields.first { $0.first == "0" && $0.count == 2 } ?? fields.first { $0.dropFirst().first == "name=systemd" }
        let unit = path?.last?.split(separator: "/").first { !$0.hasSuffix(".slice") }
        // Whoever is logged in is in `session-3.scope` or `user@1000.service`.
        guard let unit, unit.hasSuffix(".service"), !unit.hasPrefix("user@") else { return nil }
        return String(unit)
    }
}

/// Who this process is to the kernel: what a login was given when it began.
package struct Login: Hashable, Sendable {
    package var user: UInt32
    package var groups: Set<UInt32>

    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }

    /// Of this process.
    package static var current: Login {
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return Login(user: geteuid(), groups: Set(groups.prefix(Int(max(0, count)))).union([getegid()]))
    }

    /// The groups that the user is in by now, and this login is not: it is older than that.
    package func missing(in accounts: AccountFiles) -> [AccountFiles.Group] {
        accounts.groups(ofUser: user).filter { !groups.contains($0.number) }
    }
}
