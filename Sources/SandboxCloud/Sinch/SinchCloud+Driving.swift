import FoundationEssentials
import Hummingbird

extension SinchCloud {
    /// `/sandbox/sinch…`: what a backend, an operator or a failure of the service would do.
    func addDrivingRoutes(to router: Router<CloudContext>) {
        router.post("sandbox/sinch/registration-token") { request, _ in
            let wishes = try await request.order(RegistrationTokenMint.Wishes.self)
            let now = ledger.read { state, now in state.dateHeader.stated(now.second) }
            let token = try RegistrationTokenMint(application: application).token(wishes, now: now)
            return try Response.json(["userId": wishes.userId, "registrationToken": token])
        }
        router.post("sandbox/sinch/registration-signature") { request, _ in
            let wishes = try await request.order(SignatureWishes.self)
            let last = ledger.read { state, _ in state.sinch.lastSequence(of: wishes.userId) }
            guard let sequence = UInt64(wishes.sequence ?? String(last &+ 1)) else {
                throw Refusal.order("sequence is a text of decimal digits, up to \(UInt64.max)")
            }
            return try Response.json([
                "signature": application.signature(of: wishes.userId, sequence: sequence),
                "sequence": String(sequence),
            ])
        }
        router.get("sandbox/sinch/instances") { _, _ in
            try ledger.read { state, _ in
                let instances = state.sinch.instances.map { DrivenInstance($0, on: state.dateHeader) }
                return try Response.json(["instances": instances])
            }
        }
        router.post("sandbox/sinch/forget") { request, _ in
            let wishes = try await request.order(ForgetWishes.self)
            return try ledger.change { state, _ in
                let before = state.sinch.instances.count
                state.sinch.instances.removeAll(where: wishes.fits)
                return try Response.json(["forgotten": before - state.sinch.instances.count])
            }
        }
        router.post("sandbox/sinch/settings") { request, _ in
            let wishes = try await request.order(SinchSettings.self)
            return try ledger.change { state, _ in
                state.sinch.issuesCredentials = wishes.credentials ?? state.sinch.issuesCredentials
                return try Response.json(SinchSettings(credentials: state.sinch.issuesCredentials))
            }
        }
    }
}

/// An instance as the `/sandbox` endpoints show it.
private struct DrivenInstance: Encodable {
    let instanceId: String
    let userId: String
    let deviceId: String
    let expiresAt: Int64?
    /// How often it was registered or extended.
    let registrations: Int

    init(_ instance: SinchState.Instance, on dateHeader: DateHeaderClock) {
        instanceId = instance.id
        userId = instance.userId
        deviceId = instance.deviceId
        expiresAt = instance.expiresAt.map(dateHeader.stated)
        registrations = instance.registrations
    }
}

private struct SignatureWishes: Order {
    var userId: String
    var sequence: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case userId
        case sequence
    }
}

private struct ForgetWishes: Order {
    var userId: String?
    var deviceId: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case userId
        case deviceId
    }

    func fits(_ instance: SinchState.Instance) -> Bool {
        (userId == nil || userId == instance.userId) && (deviceId == nil || deviceId == instance.deviceId)
    }
}

private struct SinchSettings: Order, Encodable {
    /// Whether a registration brings a credential.
    var credentials: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case credentials
    }
}
