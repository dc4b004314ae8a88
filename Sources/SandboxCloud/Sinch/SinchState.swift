import FoundationEssentials
import Hummingbird

/// What the Sinch part of the cloud remembers: one instance for each user and device.
struct SinchState: Codable, Sendable {
    struct Instance: Codable, Sendable {
        let id: String
        let userId: String
        let deviceId: String
        /// The fingerprint of the credential that was handed out last.
        var credential: String?
        /// When the instance is deleted, in seconds since 1970 on the cloud's clock.
        var expiresAt: Int64?
        var registrations = 0
        var story = LoginStory()
    }

    /// Who presented a nonce, so that a lost answer can be asked for again and nothing else can.
    private struct SpentNonce: Codable, Sendable {
        let token: String
        let deviceId: String
        let expiresAt: Int64
    }

    var instances: [Instance] = []
    var issuesCredentials = true
    private var nonces: [String: SpentNonce] = [:]
    private var sequences: [String: UInt64] = [:]

    /// What a registration asks for, once its token or signature has been found good.
    struct Registration: Sendable {
        let userId: String
        let deviceId: String
        /// The instance that is to be extended; `nil` for whichever there is, or a new one.
        let instanceId: String?
        let expiresAt: Int64?
    }

    /// Registers a user's device, or extends what it has.
    ///
    /// - Returns: the instance and a credential that nobody has had before, where credentials are handed out.
    mutating func register(
        _ wanted: Registration,
        now: Int64
    ) throws(Refusal) -> (instance: Instance, credential: String?) {
        forgetExpired(now: now)
        let index = instances.firstIndex { $0.userId == wanted.userId && $0.deviceId == wanted.deviceId }
        if let id = wanted.instanceId, index.map({ instances[$0].id }) != id { throw .sinchForgot }

        var instance =
            index.map { instances[$0] }
            ?? Instance(
                id: TokenText.identifier(),
                userId: wanted.userId,
                deviceId: wanted.deviceId,
                expiresAt: wanted.expiresAt
            )
        if let limit = instance.expiresAt {
            // It may be extended, and never be made endless.
            instance.expiresAt = max(limit, wanted.expiresAt ?? limit)
        } else {
            instance.expiresAt = wanted.expiresAt
        }
        let credential = issuesCredentials ? TokenText.fresh("sinch_") : nil
        instance.credential = credential.map(TokenText.fingerprint)
        instance.registrations += 1
        instance.story.add(index == nil ? .opened : .renewed, at: Date(timeIntervalSince1970: Double(now)))
        if let index { instances[index] = instance } else { instances.append(instance) }
        return (instance, credential)
    }

    /// The instance, for whoever holds its credential.
    func instance(_ id: String, credential: String?, now: Int64) throws(Refusal) -> Instance {
        guard let instance = instances.first(where: { $0.id == id && !$0.isOver(now) }) else { throw .sinchForgot }
        guard instance.credential == nil || instance.credential == credential.map(TokenText.fingerprint) else {
            throw .sinch(.unauthorized, 40_102, "the credential is not the instance's last one")
        }
        return instance
    }

    /// Spends a nonce; only the same token from the same device may come again, because its answer may have been lost.
    mutating func spend(nonce: String, of jwt: String, deviceId: String, expiresAt: Int64, now: Int64) throws(Refusal) {
        // A token that is over cannot come back, so its nonce need not be remembered; the hour is for clocks.
        nonces = nonces.filter { $0.value.expiresAt > now - 3_600 }
        let token = TokenText.fingerprint(jwt)
        if let spent = nonces[nonce], spent.token != token || spent.deviceId != deviceId {
            throw .sinch(.unauthorized, 40_101, "the nonce was used before")
        }
        nonces[nonce] = SpentNonce(token: token, deviceId: deviceId, expiresAt: expiresAt)
    }

    /// Spends a sequence, which must be larger than every one that the user has used.
    mutating func spend(sequence: UInt64, of userId: String) throws(Refusal) {
        guard sequence > lastSequence(of: userId) else {
            throw .sinch(.unauthorized, 40_101, "the sequence is not larger than the last one")
        }
        sequences[userId] = sequence
    }

    func lastSequence(of userId: String) -> UInt64 { sequences[userId] ?? 0 }

    private mutating func forgetExpired(now: Int64) {
        instances.removeAll { $0.isOver(now) }
    }
}

extension SinchState.Instance {
    func isOver(_ now: Int64) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

extension Refusal {
    /// A refusal by the registration endpoint.
    static func sinch(_ status: HTTPResponse.Status, _ code: Int64, _ message: String) -> Refusal {
        Refusal(status, body: ["errorCode": .integer(code), "message": .string(message)])
    }

    /// The service does not know the instance (any more): it has to be registered anew.
    static var sinchForgot: Refusal { .sinch(.unauthorized, 1_104, "there is no such instance") }
}
