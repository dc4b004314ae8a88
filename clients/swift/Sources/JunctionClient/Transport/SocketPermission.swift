import Glibc

/// A socket that this user may not open, or a folder on the way to it: the group that may, and how one gets into that.
struct SocketPermission {
    /// The group, unless it is the owner's alone.
    let group: UInt32?
    let owner: UInt32

    init(group: UInt32?, owner: UInt32) {
        self.group = group
        self.owner = owner
    }

    /// What there is at the path, or the nearest folder to it that can be looked at; nothing when that cannot be.
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

    /// What to do for somebody at a terminal.
    ///
    /// - Parameter service: the system unit that this process is in, if it is in one.
    func remedy(for login: Login, in service: String? = nil, _ accounts: AccountFiles) -> String {
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
