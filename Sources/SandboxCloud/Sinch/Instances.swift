import FoundationEssentials
import Hummingbird

/// A registration request whose token or signature was verified.
struct Registration: Sendable {
    let userId: String
    let deviceId: String
    /// The instance to extend. With `nil`, the request extends the existing instance or creates a new one.
    let instanceId: String?
    let expiresAt: Date?
}

extension CloudState {
    /// Registers a user's device or extends its registration. A user has one instance on a device.
    ///
    /// - Returns: The instance, and a new credential if the settings include credentials.
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
            // A limited instance can be extended but cannot become unlimited.
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

    /// Returns the instance if the caller has its credential.
    func instance(_ id: String, credential: String?, now: Date) throws(Refusal) -> Login {
        guard let instance = logins[id], instance.vendor == .sinch, !instance.isOver(now) else { throw .sinchForgot }
        guard instance.current == nil || instance.current == credential.map(TokenText.fingerprint) else {
            throw .sinch(.unauthorized, 40_102, "the credential is not the instance's last one")
        }
        return instance
    }

    /// Uses up a sequence. It must be larger than every sequence that the user has used before.
    mutating func spend(sequence: UInt64, of userId: String) throws(Refusal) {
        guard sequence > sequences[userId] ?? 0 else {
            throw .sinch(.unauthorized, 40_101, "the sequence is not larger than the last one")
        }
        sequences[userId] = sequence
    }
}

extension Refusal {
    static func sinch(_ status: HTTPResponse.Status, _ code: Int64, _ message: String) -> Refusal {
        Refusal(status, body: ["errorCode": .integer(code), "message": .string(message)])
    }

    /// The error for an unknown instance, which the client must register again.
    static var sinchForgot: Refusal { .sinch(.unauthorized, 1_104, "there is no such instance") }
}
