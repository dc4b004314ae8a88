import FoundationEssentials

extension OAuthCloud {
    func overview(of state: CloudState, now: Date) -> VendorOverview {
        let logins = state.oauth.families.logins(named: { state.oauth.users[$0]?.name ?? $0 }, now: now)
        let alive = Dictionary(grouping: state.oauth.families.all.filter(\.isAlive), by: \.subject)
        var overview = VendorOverview(
            "oauth",
            "OAuth",
            users: state.oauth.users.all.reversed().lazy.map { user in
                ShownUser(
                    id: user.sub,
                    name: user.name,
                    standing: user.isDeleted ? "deleted" : user.isDisabled ? "disabled" : "active",
                    detail: user.sub,
                    logins: alive[user.sub]?.count ?? 0,
                    actions: ShownAction.list(
                        "/sandbox/oauth/users/\(PercentText.escaped(user.sub))",
                        [
                            "Tokens": "tokens",
                            "Subject token": "subject-token",
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
            logins: logins
        )
        overview.devices = state.oauth.devices.devices.reversed()
            .filter { $0.decision == .pending && now < $0.expiresAt }
            .prefix(VendorOverview.longest)
            .map { ShownDevice(userCode: $0.userCode, clientId: $0.wish.client) }
        return overview
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        DaemonConfiguration(
            provider: .oauth,
            settings: [
                "issuer": .text("\(origin)/oauth"),
                "clientId": .text("sandbox-public"),
                "scopes": .list(["openid", "offline_access"]),
                "apiUrl": .text("\(origin)/oauth-api/v1/"),
            ]
        )
    }
}
