import FoundationEssentials
import Hummingbird

/// The `/sandbox` endpoints, by which a test acts as a backend, an operator, a user or an attacker. All vendors have
/// the same endpoints.
struct Driving: Sendable {
    let store: Store
    let hanging: HangingRequests
    let vendors: [any Vendor]

    func addRoutes(to router: Router<CloudContext>) {
        for vendor in vendors { addRoutes(of: vendor, to: router) }
        addSettings("sandbox", \.general, to: router)
        addSettings("sandbox/social", \.social, to: router)
        addSettings("sandbox/sinch", \.sinch, to: router)
        addSettings("sandbox/oauth", \.oauth, to: router)
        addDeviceRoutes(to: router)
        addClientRoutes(to: router)
        addFaultRoutes(to: router)
        addTrafficRoutes(to: router)

        router.get("sandbox/clock") { _, _ in try clock() }
        router.post("sandbox/clock") { request, _ in
            let step: ClockStep = try await request.order()
            try store.change { state, _ in state.clockOffset += step.advanceSeconds }
            return try clock()
        }
        router.post("sandbox/reset") { _, _ in
            try store.reset()
            _ = hanging.endAll(.abandoned)
            return try Response.json(["reset": true])
        }
    }

    private func clock() throws -> Response {
        try .json(["now": store.snapshot.moment.now.ISO8601Format()])
    }

    private func addSettings<Group: SettingsGroup>(
        _ path: String,
        _ group: any WritableKeyPath<Settings, Group> & Sendable,
        to router: Router<CloudContext>
    ) {
        router.get("\(path)/settings") { _, _ in try Response.json(store.settings[keyPath: group]) }
        router.post("\(path)/settings") { request, _ in
            try Response.json(try store.change(group, by: try await request.order()))
        }
    }

    private func addFaultRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/faults") { _, _ in try faults() }
        router.post("sandbox/faults") { request, _ in
            let fault = try await request.order(Fault.self).checked()
            store.update { $0.faults.append(fault) }
            return try faults(status: .created)
        }
        router.delete("sandbox/faults") { _, _ in
            store.update { $0.faults = [] }
            return try faults()
        }
        router.post("sandbox/release") { _, _ in
            try Response.json(["released": hanging.endAll(.released)])
        }
    }

    private func faults(status: HTTPResponse.Status = .ok) throws -> Response {
        try .json(["faults": store.snapshot.contents.faults], status: status)
    }

    private func addTrafficRoutes(to router: Router<CloudContext>) {
        router.get("sandbox/counters") { _, _ in try Response.json(store.snapshot.contents.tally) }
        router.get("sandbox/await") { request, _ in try await awaitCounter(request) }
        router.get("sandbox/requests") { request, _ in
            let path = request.uri.queryParameters["path"] ?? ""
            let notes = store.snapshot.contents.requests.notes
            return try Response.json(["requests": notes.filter { $0.path.hasPrefix(path) }])
        }
    }

    /// Answers when a counter has reached its goal, so that a test does not have to poll.
    private func awaitCounter(_ request: Request) async throws -> Response {
        let query = request.uri.queryParameters
        let names = Tally().figures.map(\.name)
        guard let counter = query["counter"].map(String.init), names.contains(counter) else {
            throw Refusal.order("counter must be one of \(names.joined(separator: ", "))")
        }
        guard let goal = Int(query["atLeast"] ?? "1") else {
            throw Refusal.order("atLeast must be a whole number")
        }
        for await _ in store.changes() {
            let tally = store.snapshot.contents.tally
            if tally.figures.contains(where: { $0.name == counter && $0.value >= goal }) { return try .json(tally) }
        }
        throw Refusal.order("the sandbox is stopping", status: .serviceUnavailable)
    }
}

private struct ClockStep: Decodable {
    var advanceSeconds: Double
}
