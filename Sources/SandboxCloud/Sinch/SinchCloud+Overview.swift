import FoundationEssentials

extension SinchCloud {
    /// Sinch has no users but those of its instances.
    func overview(of state: CloudState, now: Date) -> VendorOverview {
        let instances = state.sinch.instances.filter { !$0.isOver(now.second) }
        let users = Dictionary(grouping: instances, by: \.userId).sorted { $0.key < $1.key }
        return VendorOverview(
            "sinch",
            "Sinch",
            users: users.lazy.map { id, instances in
                ShownUser(
                    id: id,
                    name: id,
                    standing: "active",
                    detail: "",
                    logins: instances.count,
                    actions: [
                        ShownAction(
                            label: "Registration token",
                            path: "/sandbox/sinch/registration-token",
                            body: ["userId": .string(id)]
                        ),
                        ShownAction(
                            label: "Forget the registrations",
                            path: "/sandbox/sinch/forget",
                            body: ["userId": .string(id)]
                        ),
                    ]
                )
            },
            logins: instances.map { instance in
                ShownLogin(
                    id: instance.id,
                    user: instance.userId,
                    detail: "device \(instance.deviceId)",
                    openedAt: instance.story.entries.first?.at ?? .distantPast,
                    isAlive: true,
                    accessTokens: instance.credential == nil ? 0 : 1,
                    expiresAt: instance.expiresAt.map { Date(timeIntervalSince1970: Double($0)) },
                    story: instance.story
                )
            }
        )
    }

    func configuration(at origin: String, keyFile: String) -> DaemonConfiguration {
        DaemonConfiguration(
            provider: .sinch,
            settings: ["applicationKey": .text(application.key), "registrationUrl": .text("\(origin)/v1/instance")]
        )
    }
}
