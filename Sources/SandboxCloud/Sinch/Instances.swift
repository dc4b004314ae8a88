import FoundationEssentials
import Hummingbird

/// What a registration asks for, once its token or signature has been found good.
struct Registration: Sendable {
    let userId: String
    let deviceId: String
    /// The instance that is to be extended; `nil` for whichever there is, or a new one.
    let instanceId: String?
    let expiresAt: Date?
}

extension CloudState {
    /// Registers a user's device, or extends what it has: a user has one instance on a device.
    ///
    /// - Returns: the instance and a credential that nobody has had before, where credentials are handed out.
    mutating func register(
        _ wanted: Registration,
        at moment: Moment
    ) throws(Refusal) -> (instance: Login, credential: String?) {
        let user =
            users[.sinch, wanted.userId]
            ?? User(vendor: .sinch, userId: wanted.userId, name: wanted.userId, createdAt: moment.now)
        guard user.isActive else { throw .sinch(.unauthorized, 40_101, "the user was disabled or deleted") }
        let known = logins.login(at: .sinch, of: wanted.userId, on: wanted.deviceId, now: moment.now)
        if let id = wanted.instanceId, known?.id != id { throw .sinchForgot }
        users[.sinch, wanted.userId] = user

        var instance =
            known
            ?? Login(
                vendor: .sinch,
                userId: wanted.userId,
                deviceId: wanted.deviceId,
                openedAt: moment.now,
                expiresAt: wanted.expiresAt
            )
        if let limit = instance.expiresAt {
            // It may be extended, and never be made endless.
            instance.expiresAt = max(limit, wanted.expiresAt ?? limit)
        } else {
            instance.expiresAt = wanted.expiresAt
        }
        let credential = moment.settings.sinch.credentials ? TokenText.fresh(VendorName.sinch.accessTokenPrefix) : nil
        instance.current = credential.map(TokenText.fingerprint)
        if known != nil { instance.refreshes += 1 }
        instance.story.add(known == nil ? .opened : .renewed, at: moment.now)
        logins[instance.id] = instance
        return (instance, credential)
    }

    /// The instance, for whoever holds its credential.
    func instance(_ id: String, credential: String?, now: Date) throws(Refusal) -> Login {
        guard let instance = logins[id], instance.vendor == .sinch, !instance.isOver(now) else { throw .sinchForgot }
        guard instance.current == nil || instance.current == credential.map(TokenText.fingerprint) else {
            throw .sinch(.unauthorized, 40_102, "the credential is not the instance's last one")
        }
        return instance
    }

    /// Spends a sequence, which must be larger than every one that the user has used.
    mutating func spend(sequence: UInt64, of userId: String) throws(Refusal) {
        guard sequence > sequences[userId] ?? 0 else {
            throw .sinch(.unauthorized, 40_101, "the sequence is not larger than the last one")
        }
        sequences[userId] = sequence
    }
}

extension Refusal {
    /// A refusal by the registration endpoint.
    static func sinch(_ status: HTTPResponse.Status, _ code: Int64, _ message: String) -> Refusal {
        Refusal(status, body: ["errorCode": .integer(code), "message": .string(message)])
    }

    /// The service does not know the instance (any more): it has to be registered anew.
    static var sinchForgot: Refusal { .sinch(.unauthorized, 1_104, "there is no such instance") }
}
