import FoundationEssentials
import Hummingbird

extension Workings {
    /// The `/sandbox` endpoints that every vendor shares.
    func addRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/settings") { _, _ in try Response.json(preferences.settings) }
        router.post("sandbox/settings") { request, _ in
            let wishes = try await request.order(SettingsWishes.self).checked()
            preferences.change(wishes.apply)
            return try Response.json(preferences.settings)
        }

        router.get("sandbox/clock") { _, _ in try clock() }
        router.post("sandbox/clock") { request, _ in
            let step = try await request.order(ClockWishes.self).advanceSeconds
            try ledger.change { state, _ in state.clockOffset += step }
            return try clock()
        }

        router.get("sandbox/faults") { _, _ in try Response.json(["faults": plan.pending]) }
        router.post("sandbox/faults") { request, _ in
            plan.add(try await request.order(Fault.self).checked())
            return try Response.json(["faults": plan.pending], status: .created)
        }
        router.delete("sandbox/faults") { _, _ in
            plan.clear()
            return try Response.json(["faults": plan.pending])
        }
        router.post("sandbox/release") { _, _ in
            try Response.json(["released": hanging.endAll(.released)])
        }

        router.get("sandbox/counters") { _, _ in try Response.json(counters.tally) }
        router.get("sandbox/await") { request, _ in try await awaitCounter(request) }
        router.get("sandbox/requests") { request, _ in
            let path = request.uri.queryParameters["path"]
            let notes = log.all.filter { note in path.map { note.path.hasPrefix($0) } ?? true }
            return try Response.json(["requests": notes])
        }

        router.post("sandbox/reset") { _, _ in
            try reset()
            return try Response.json(["reset": true])
        }
    }

    private func clock() throws -> Response {
        try .json(["now": .string(ledger.now.ISO8601Format())] as JSONValue)
    }

    /// Answers when a counter has got so far, so that a test need not look again and again.
    private func awaitCounter(_ request: Request) async throws -> Response {
        let query = request.uri.queryParameters
        guard let counter = query["counter"].flatMap({ Tally.Counter(rawValue: String($0)) }) else {
            let known = Tally.Counter.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal.order("counter must be one of \(known)")
        }
        guard let goal = Int(query["atLeast"] ?? "1") else {
            throw Refusal.order("atLeast must be a whole number")
        }
        guard let tally = await counters.wait(for: counter, atLeast: goal) else {
            throw Refusal.order("the sandbox is stopping", status: .serviceUnavailable)
        }
        return try .json(tally)
    }
}

private struct ClockWishes: Order {
    var advanceSeconds: Double

    enum CodingKeys: String, CodingKey, CaseIterable {
        case advanceSeconds
    }
}

private struct SettingsWishes: Order {
    var accessTokenLifetime: Double?
    var rotationGrace: Double?
    var singleUseSignInTokens: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case accessTokenLifetime
        case rotationGrace
        case singleUseSignInTokens
    }

    func checked() throws(Refusal) -> Self {
        guard Settings.durations.contains(accessTokenLifetime ?? 0), Settings.durations.contains(rotationGrace ?? 0)
        else { throw .order("durations are seconds from 0 to \(Int(Settings.durations.upperBound))") }
        return self
    }

    func apply(to settings: inout Settings) {
        settings.accessTokenLifetime = accessTokenLifetime ?? settings.accessTokenLifetime
        settings.rotationGrace = rotationGrace ?? settings.rotationGrace
        settings.singleUseSignInTokens = singleUseSignInTokens ?? settings.singleUseSignInTokens
    }
}

extension Fault {
    /// The fault, unless something in it can never happen.
    func checked() throws(Refusal) -> Fault {
        let complaint: String? =
            if !match.hasPrefix("/") {
                "match is the beginning of a path, such as /v1/token"
            } else if let times, times < 1 {
                "times is 1 or more; leave it out for every request"
            } else if let status, !(200...599).contains(status) {
                "status is an HTTP status from 200 to 599"
            } else if !Settings.durations.contains(latency ?? 0) || !Settings.durations.contains(slowBody ?? 0) {
                "latency and slowBody are seconds"
            } else if let oversize, !(1...Self.largestBody).contains(oversize) {
                "oversize is a number of bytes up to \(Self.largestBody)"
            } else if let name = headers?.keys.first(where: { HeaderName($0) == nil }) {
                "'\(name)' is not the name of a header"
            } else {
                nil
            }
        if let complaint { throw .order(complaint) }
        return self
    }

    /// More than any client should take, and little enough to make in memory.
    private static let largestBody = 64 << 20
}
