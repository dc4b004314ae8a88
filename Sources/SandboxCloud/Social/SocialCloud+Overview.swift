import FoundationEssentials

extension SocialCloud {
    func overview(of state: CloudState, now: Date) -> VendorOverview {
        let users = state.social.users.values.sorted { ($1.createdAt, $1.userId) < ($0.createdAt, $0.userId) }
        return VendorOverview(
            "social",
            "social.plus",
            users: users.lazy.map { user in
                ShownUser(
                    id: user.userId,
                    name: user.displayName,
                    standing: user.isDeleted ? "deleted" : user.isGlobalBanned ? "banned" : "active",
                    detail: user.displayName == user.userId ? "" : user.userId,
                    logins: state.social.aliveCount(of: user.userId, now: now),
                    actions: ShownAction.list(
                        "/sandbox/social/users/\(PercentText.escaped(user.userId))",
                        [
                            "Auth token": "auth-token",
                            "Access tokens expire": "expire-access-tokens",
                            "Revoke access tokens": "revoke-access-tokens",
                            "Ban": "ban",
                            "Unban": "unban",
                            "Delete": "delete",
                            "Undelete": "undelete",
                        ]
                    )
                )
            },
            logins: state.social.logins(now: now)
        )
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        let file = ShellText.quoted(keyFile)
        return DaemonConfiguration(
            provider: .social,
            remark: "Any API key does that is not empty: (umask 077; echo sandbox-api-key >\(file))",
            settings: ["apiUrl": .text(origin), "apiKeyFile": .text(keyFile)]
        )
    }
}
