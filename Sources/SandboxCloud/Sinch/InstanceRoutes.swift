import FoundationEssentials
import Hummingbird
import NIOCore
import RegistrationToken

extension SinchCloud {
    /// `/v1/instance`: register a user's device, look at the registration, give it up.
    func addInstanceRoutes(to router: Router<CloudContext>) {
        router.post("v1/instance") { request, _ in
            do {
                let answer = try register(try await request.registrationRequest())
                count("granted")
                return try Response.json(answer)
            } catch let refusal as Refusal {
                count(refusal == .sinchForgot ? "forgotten" : "refused")
                throw refusal
            }
        }
        router.get("v1/instance/{id}") { request, context in
            let id = try context.parameters.require("id")
            return try ledger.read { state, now in
                let instance = try state.sinch.instance(id, credential: request.bearer, now: now.second)
                return try Response.json(instance.view(credential: nil, on: state.dateHeader))
            }
        }
        router.delete("v1/instance/{id}") { request, context in
            let id = try context.parameters.require("id")
            try ledger.change { state, now in
                let instance = try state.sinch.instance(id, credential: request.bearer, now: now.second)
                state.sinch.instances.removeAll { $0.id == instance.id }
            }
            counters.count { $0.signOuts += 1 }
            return Response(status: .noContent)
        }
    }

    private func register(_ wanted: RegistrationRequest) throws -> JSONValue {
        guard wanted.applicationKey == application.key else {
            throw Refusal.sinch(.forbidden, 40_301, "the application is unknown")
        }
        return try ledger.change { state, now in
            let dateHeader = state.dateHeader
            let expiresAt: Int64?
            switch try wanted.proof() {
            case .token(let jwt):
                let token = try vet(jwt, of: wanted.userId, now: dateHeader.stated(now.second))
                try state.sinch.spend(
                    nonce: token.nonce,
                    of: jwt,
                    deviceId: wanted.deviceId,
                    expiresAt: dateHeader.meant(token.expiresAt),
                    now: now.second
                )
                expiresAt = token.instanceExpiresAt.map(dateHeader.meant)
            case .signature(let signature, let sequence):
                guard signature == application.signature(of: wanted.userId, sequence: sequence) else {
                    throw Refusal.sinch(.unauthorized, 40_101, "the signature does not match")
                }
                try state.sinch.spend(sequence: sequence, of: wanted.userId)
                expiresAt = nil
            }
            let registration = SinchState.Registration(
                userId: wanted.userId,
                deviceId: wanted.deviceId,
                instanceId: wanted.instanceId,
                expiresAt: expiresAt
            )
            let (instance, credential) = try state.sinch.register(registration, now: now.second)
            return instance.view(credential: credential, on: dateHeader)
        }
    }

    private func vet(_ jwt: String, of userId: String, now: Int64) throws(Refusal) -> RegistrationToken {
        do throws(RegistrationToken.Rule) {
            let token = try RegistrationToken.verify(jwt.utf8, with: application.secret, at: now)
            try token.requireApplication(application.key)
            try token.requireUser(userId)
            return token
        } catch {
            throw .sinch(.unauthorized, 40_101, "the registration token breaks the rule \(error.rawValue): \(error)")
        }
    }

    private func count(_ outcome: String) {
        counters.count { $0.grants["registration", default: [:]][outcome, default: 0] += 1 }
    }
}

/// The body of `POST /v1/instance`.
private struct RegistrationRequest: Decodable {
    enum Proof {
        case token(String)
        case signature(String, sequence: UInt64)
    }

    let applicationKey: String
    let userId: String
    let deviceId: String
    let instanceId: String?
    let jwt: String?
    let signature: String?
    /// Decimal digits: not every JSON reader keeps 64 bits of a number.
    let sequence: String?

    func proof() throws(Refusal) -> Proof {
        switch (jwt, signature, sequence.flatMap { UInt64($0) }) {
        case (let jwt?, nil, nil): return .token(jwt)
        case (nil, let signature?, let sequence?): return .signature(signature, sequence: sequence)
        case (_, _, _): throw .sinch(.badRequest, 40_001, "send either jwt, or signature and sequence in digits")
        }
    }
}

extension Request {
    fileprivate func registrationRequest() async throws -> RegistrationRequest {
        let buffer = try await body.collect(upTo: 1 << 16)
        guard let wanted = try? JSONDecoder().decode(RegistrationRequest.self, from: Data(buffer.readableBytesView))
        else {
            throw Refusal.sinch(.badRequest, 40_001, "send JSON with applicationKey, userId, deviceId and a proof")
        }
        return wanted
    }

    fileprivate var bearer: String? {
        guard let authorization = headers[.authorization], authorization.hasPrefix("Bearer ") else { return nil }
        return String(authorization.dropFirst("Bearer ".count))
    }
}

extension SinchState.Instance {
    /// The answer to a registration, with a member for the credential where there is one.
    fileprivate func view(credential: String?, on dateHeader: DateHeaderClock) -> JSONValue {
        var members: [String: JSONValue] = [
            "instanceId": .string(id),
            "expiresAt": expiresAt.map { .integer(dateHeader.stated($0)) } ?? .null,
        ]
        if let credential { members["credential"] = .string(credential) }
        return .object(members)
    }
}
