import JunctionJSON
import JunctionSecret
import JunctionSession

/// What has to be known again about a registration when it is extended or given up.
///
/// It is stored where other vendors have their refresh token: sealed, written together with the session, and handed
/// back by the session with every call.
struct Registration: Equatable, Sendable {
    var instanceId: String
    /// How the user was registered last.
    var scheme: Scheme
    /// When the registration ends; `nil` for one without an end.
    var limit: WallTime?

    /// What is stored.
    var sealed: SharedSecret {
        var text = JSONWriter(capacity: 256)
        text.object { text in
            text.member("instanceId", instanceId)
            text.member("scheme", scheme.rawValue)
            if let limit { text.member("limit", limit.milliseconds) }
        }
        return text.withUnsafeBytes { SharedSecret(copying: $0) }
    }

    init(instanceId: String, scheme: Scheme, limit: WallTime?) {
        self.instanceId = instanceId
        self.scheme = scheme
        self.limit = limit
    }

    /// The end that still holds for an instance: a limited one never becomes unlimited while it lasts.
    func limit(of instanceId: String, at now: WallTime) -> WallTime? {
        guard instanceId == self.instanceId, let limit, limit > now else { return nil }
        return limit
    }

    /// Reads what was stored.
    init?(_ sealed: SharedSecret) {
        guard let text = sealed.withUnsafeBytes({ try? JSONValue.parse($0) }),
            let instanceId = text["instanceId"]?.string,
            let scheme = text["scheme"]?.string.flatMap(Scheme.init(rawValue:))
        else { return nil }
        self.instanceId = instanceId
        self.scheme = scheme
        limit = (text["limit"]?.integer).map(WallTime.init(milliseconds:))
    }
}

extension SessionSecrets {
    /// The registration that the session lives on.
    var registration: Registration? { refreshToken.flatMap(Registration.init) }
}
