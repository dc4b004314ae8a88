import FoundationEssentials

extension JunctionCloud {
    func overview(of state: CloudState, now: Date) -> VendorOverview {
        let state = state.junction
        return VendorOverview(
            "junction",
            "Junction",
            users: state.users.everybody.reversed().lazy.map { user in
                ShownUser(
                    id: user.id,
                    name: user.clientUserId,
                    standing: user.standing.rawValue,
                    detail: "\(user.id), \(user.team.environment.rawValue) \(user.team.region.rawValue)",
                    logins: state.families.aliveCount(of: user.id),
                    actions: ShownAction.list(
                        "/sandbox/users/\(user.id)",
                        [
                            "Sign-In Token": "sign-in-token",
                            "Link code": "link-code",
                            "Access tokens expire": "expire-access-tokens",
                            "Revoke access tokens": "revoke-access-tokens",
                            "Require a new sign-in": "require-reauthentication",
                            "Disable": "disable",
                            "Enable": "enable",
                            "Delete": "delete",
                            "Undelete": "undelete",
                        ]
                    )
                )
            },
            logins: state.families.logins(named: { state.users[$0]?.clientUserId ?? $0 }, now: now)
        )
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        DaemonConfiguration(provider: .junction, settings: ["authUrl": .text(origin), "apiUrl": .text(origin)])
    }
}
