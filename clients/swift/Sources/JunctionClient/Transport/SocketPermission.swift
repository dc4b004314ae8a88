import Glibc

/// A socket, or a directory on the way to it, that this user must not open: which group may open it, and how the user
/// joins that group.
struct SocketPermission {
    /// The group that may open it; `nil` if only the owner may.
    let group: UInt32?
    let owner: UInt32

    /// The id that the kernel reports for every group that the user namespace of this process does not map, as in a
    /// container.
    private static let unmapped: UInt32 = 65_534

    init(group: UInt32?, owner: UInt32) {
        self.group = group
        self.owner = owner
    }

    /// Inspects the path, or the nearest directory above it that can be inspected; `nil` if that fails.
    init?(on path: String) {
        var path = path[...]
        var status = stat()
        while stat(String(path), &status) != 0 {
            guard errno == EACCES, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = path[..<slash]
        }
        let isForGroup = status.st_mode & (status.st_mode & S_IFMT == S_IFDIR ? S_IXGRP : S_IWGRP) != 0
        self.init(group: isForGroup ? status.st_gid : nil, owner: status.st_uid)
    }

    /// Returns what a user at a terminal can do.
    ///
    /// - Parameter service: the system unit of this process, if it is in one.
    func remedy(for login: Login, in service: String? = nil, _ accounts: AccountFiles) -> String {
        if group == Self.unmapped {
            return
                "the group that may has no number in the user namespace of this process: start the container with that "
                + "group ('podman run --group-add keep-groups', as a user who is in it)"
        }
        guard let group, !login.groups.contains(group) else {
            let name = accounts.name(ofUser: owner) ?? "\(owner)"
            let whoMay = owner == 0 ? "root may: ask as root" : "'\(name)' and root may: ask as one of them"
            return "only \(whoMay), or have the daemon's socket given to a group that you are in"
        }
        let name = accounts.name(ofGroup: group) ?? "\(group)"
        if let service {
            return "the group '\(name)' may: add 'SupplementaryGroups=\(name)' to [Service] of \(service), then run "
                + "'systemctl daemon-reload' and restart it"
        }
        if accounts.groups(ofUser: login.user).contains(where: { $0.number == group }) {
            return
                "the group '\(name)' may, and you are in it, but were not when this login began: log in again, or run "
                + "'newgrp \(name)'"
        }
        let user = accounts.name(ofUser: login.user) ?? "\(login.user)"
        return
            "the group '\(name)' may: have yourself added ('sudo usermod -aG \(name) \(user)'), then log in again or run "
            + "'newgrp \(name)'"
    }
}
