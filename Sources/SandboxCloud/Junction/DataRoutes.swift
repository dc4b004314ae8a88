import FoundationEssentials
import Hummingbird

extension JunctionCloud {
    /// Adds the endpoints for a user's providers, summaries and time series. The data is invented, small, and always of
    /// the same shape.
    func addDataRoutes(to router: Router<CloudContext>) {
        router.get("v2/providers") { request, _ in
            try api(request) { _, _, _ in Provider.all.map(\.view) }
        }
        router.get("v2/user/providers/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, _ in
                let providers = try state.user(id, for: caller).providers.map(Provider.init)
                let changes: [String: JSONValue] = ["auth_type": .null, "status": "connected"]
                return ["providers": providers.map { $0.view.overlaid(with: changes) }]
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
                state.users[.junction, user.userId]?.junction?.providers.removeAll { $0 == provider }
                return try Done.response()
            }
        }
        router.post("v2/user/refresh/{user}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, _ in
                let user = try state.user(id, for: caller)
                return
                    [
                        "success": true, "user_id": .string(user.userId),
                        "refreshed_sources": JSONValue(user.providers),
                        "in_progress_sources": [], "failed_sources": [],
                    ] as JSONValue
            }
        }
        router.get("v2/summary/{type}/{user}") { request, context in
            let type = try context.parameters.require("type")
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, now in
                let user = try state.user(id, for: caller)
                let date = String(now.ISO8601Format().prefix(10))
                return [
                    type: user.providers.map { provider in
                        [
                            "id": .string(TokenText.fingerprint("\(user.userId) \(provider) \(date)")),
                            "user_id": .string(user.userId), "calendar_date": .string(date),
                            "source": ["provider": .string(provider), "type": "unknown"],
                        ] as JSONValue
                    }
                ]
            }
        }
        router.get("v2/timeseries/{user}/{resource}") { request, context in
            let id = try context.parameters.require("user")
            return try api(request) { state, caller, now in
                _ = try state.user(id, for: caller)
                return (0..<3).map { minute in
                    [
                        "timestamp": .string((now - Double(2 - minute) * 60).ISO8601Format()),
                        "value": .integer(61 + minute), "unit": "bpm",
                    ] as JSONValue
                }
            }
        }
    }
}
