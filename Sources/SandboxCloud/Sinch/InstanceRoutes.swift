import FoundationEssentials
import Hummingbird
import NIOCore
import RegistrationToken

extension SinchCloud {
    /// Adds `/v1/instance`, which registers a user's device, shows the registration, and deletes it.
    func addInstanceRoutes(to router: Router<CloudContext>) {
        router.post("v1/instance") { request, _ in
            do {
                let answer = try register(
                    try await request.json(
                        orElse: .sinch(
                            .badRequest,
                            40_001,
                            "send JSON with applicationKey, userId, deviceId and a proof"
                        )
                    )
                )
                count("granted")
                return try Response.json(answer)
            } catch let refusal as Refusal {
                count(refusal == .sinchForgot ? "forgotten" : "refused")
                throw refusal
            }
        }
        router.get("v1/instance/{id}") { request, context in
            let id = try context.parameters.require("id")
            return try store.read { state, moment in
                let instance = try state.instance(id, credential: request.bearer, now: moment.now)
                return try Response.json(Self.view(of: instance, at: moment))
            }
        }
        router.delete("v1/instance/{id}") { request, context in
            let id = try context.parameters.require("id")
            try store.change { state, moment in
                let instance = try state.instance(id, credential: request.bearer, now: moment.now)
                state.logins.end(instance.id, because: .signedOut, now: moment.now)
            }
            store.count { $0.signOuts += 1 }
            return Response(status: .noContent)
        }
    }

    private func register(_ wanted: RegistrationRequest) throws -> [String: JSONValue] {
        guard wanted.applicationKey == application.key else {
            throw Refusal.sinch(.forbidden, 40_301, "the application is unknown")
        }
        return try store.change { state, moment in
            let expiresAt: Date?
            switch try wanted.proof() {
            case .token(let jwt):
                let token = try vet(jwt, of: wanted.userId, now: moment.stated(moment.now).second)
                // The nonce is stored until the token expires, and an hour longer to allow for clock differences.
                let isFirst = state.proofs.spend(
                    "nonce \(token.nonce)",
                    by: TokenText.fingerprint("\(jwt) \(wanted.deviceId)"),
                    until: moment.meant(Date(second: token.expiresAt + 3_600)),
                    now: moment.now
                )
                guard isFirst else { throw Refusal.sinch(.unauthorized, 40_101, "the nonce was used before") }
                expiresAt = token.instanceExpiresAt.map { moment.meant(Date(second: $0)) }
            case .signature(let signature, let sequence):
                guard signature == application.signature(of: wanted.userId, sequence: sequence) else {
                    throw Refusal.sinch(.unauthorized, 40_101, "the signature does not match")
                }
                try state.spend(sequence: sequence, of: wanted.userId)
                expiresAt = nil
            }
            let registration = Registration(
                userId: wanted.userId,
                deviceId: wanted.deviceId,
                instanceId: wanted.instanceId,
                expiresAt: expiresAt
            )
            let (instance, credential) = try state.register(registration, at: moment)
            var view = Self.view(of: instance, at: moment)
            view["credential"] = credential.map { .string($0) }
            return view
        }
    }

    private static func view(of instance: Login, at moment: Moment) -> [String: JSONValue] {
        [
            "instanceId": .string(instance.id),
            "expiresAt": instance.expiresAt.map { .integer(moment.stated($0).second) } ?? .null,
        ]
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
        store.count { $0.count("registration", outcome) }
    }
}

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
    /// Decimal digits as a string, because some JSON parsers lose precision for 64-bit numbers.
    let sequence: String?

    func proof() throws(Refusal) -> Proof {
        switch (jwt, signature, sequence.flatMap { UInt64($0) }) {
        case (let jwt?, nil, nil): return .token(jwt)
        case (nil, let signature?, let sequence?): return .signature(signature, sequence: sequence)
        case (_, _, _): throw .sinch(.badRequest, 40_001, "send either jwt, or signature and sequence in digits")
        }
    }
}
