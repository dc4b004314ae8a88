import FoundationEssentials
import Hummingbird

extension JunctionCloud {
    /// A user's providers, summaries and time series; small, made up, and always the same shape.
    func addDataRoutes(to router: Router<CloudContext>) {
        router.get("v2/providers") { request, _ in
            try api(request) { _, _, _ in Provider.all }
        }
        router.get("v2/user/providers/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, _ in
                ["providers": try state.user(id, for: caller).providers.map(ConnectedProvider.init)]
            }
        }
        router.delete("v2/user/{user}/{provider}") { request, context in
            let id = try context.parameters.require("user")
            let provider = try context.parameters.require("provider")
            return try apiChange(request) { state, caller, _ in
                let user = try state.user(id, for: caller)
                guard user.providers.contains(provider) else {
                    throw Refusal.api(.notFound, "the user has not connected \(provider)")
                }
                state.users[user.id]?.providers.removeAll { $0 == provider }
                return try Done.response()
            }
        }
        router.post("v2/user/refresh/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, _ in
                let user = try state.user(id, for: caller)
                return RefreshView(userId: user.id, refreshedSources: user.providers)
            }
        }
        router.get("v2/summary/{type}/{user}") { request, context in
            let type = try context.parameters.require("type")
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, now in
                let user = try state.user(id, for: caller)
                return [type: user.providers.map { Summary(of: user, from: $0, now: now) }]
            }
        }
        router.get("v2/timeseries/{user}/{resource}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, now in
                _ = try state.user(id, for: caller)
                return (0..<3).map { Sample(timestamp: now - Double(2 - $0) * 60, value: 61 + Double($0)) }
            }
        }
    }
}

private struct ConnectedProvider: Encodable {
    let name: String
    let slug: String
    let logo: String
    let status = "connected"

    init(slug: String) {
        let provider = Provider(slug: slug)
        name = provider.name
        self.slug = slug
        logo = provider.logo
    }
}

private struct RefreshView: Encodable {
    let success = true
    let userId: String
    let refreshedSources: [String]
    let inProgressSources: [String] = []
    let failedSources: [String] = []
}

private struct Summary: Encodable {
    let id: String
    let userId: String
    let calendarDate: String
    let source: [String: String]

    init(of user: User, from provider: String, now: Date) {
        calendarDate = String(now.ISO8601Format().prefix(10))
        id = TokenText.fingerprint("\(user.id) \(provider) \(calendarDate)")
        userId = user.id
        source = ["provider": provider, "type": "unknown"]
    }
}

private struct Sample: Encodable {
    let timestamp: Date
    let value: Double
    let unit = "bpm"
}
