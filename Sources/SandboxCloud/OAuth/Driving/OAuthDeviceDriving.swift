import FoundationEssentials
import Hummingbird

extension OAuthCloud {
    /// The devices under way, and a decision about one without the page.
    func addDeviceDriving(to router: Router<CloudContext>) {
        router.get("sandbox/oauth/devices") { _, _ in
            try Response.json([
                "devices": ledger.read { state, _ in state.oauth.devices.devices.map(DrivenDevice.init) }
            ])
        }
        router.post("sandbox/oauth/devices/{code}/approve") { request, context in
            let wishes = try await request.order(ApprovalWishes.self)
            return try drive(context) { state, code, now in
                let user = try state.users.signIn(wishes.user, now: now)
                try state.devices.decide(.approved(by: user.sub), for: code, now: now)
            }
        }
        router.post("sandbox/oauth/devices/{code}/deny") { _, context in
            try drive(context) { state, code, now in try state.devices.decide(.denied, for: code, now: now) }
        }
        router.post("sandbox/oauth/devices/{code}/expire") { _, context in
            try drive(context) { state, code, now in state.devices.expire(code, now: now) }
        }
    }

    private func drive(
        _ context: CloudContext,
        _ change: (inout OAuthState, String, Date) throws -> Void
    ) throws -> Response {
        let code = PercentText.plain(try context.parameters.require("code"))
        do {
            return try ledger.change { state, now in
                try change(&state.oauth, code, now)
                guard let device = state.oauth.devices.find(code) else {
                    throw Refusal.order("there is no device with the code '\(code)'", status: .notFound)
                }
                return try Response.json(DrivenDevice(device))
            }
        } catch let refusal as OAuthRefusal {
            throw Refusal.order(refusal.description, status: .conflict)
        }
    }
}

/// A device as the `/sandbox` endpoints show it.
private struct DrivenDevice: Encodable {
    let userCode: String
    let clientId: String
    let scope: String
    let decision: String
    let polls: Int
    /// Seconds between polls by now, each *slow down* counted in.
    let interval: Double
    let expiresAt: Date

    init(_ device: DeviceGrants.Device) {
        userCode = device.userCode
        clientId = device.wish.client
        scope = device.wish.scopes.joined(separator: " ")
        decision = device.decision.name
        polls = device.polls
        interval = device.interval
        expiresAt = device.expiresAt
    }
}

private struct ApprovalWishes: Order {
    var user: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case user
    }
}
