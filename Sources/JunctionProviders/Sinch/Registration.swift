import JunctionJSON
import JunctionSecret
import JunctionSession

/// The data of a registration that a later extension or removal needs.
///
/// It is stored in the place of the refresh token: sealed, written together with the session, and passed to every call
/// of the provider.
struct Registration: Equatable, Sendable {
    var instanceId: String
    /// The scheme of the last registration.
    var scheme: Scheme
    /// When the registration ends; `nil` if it does not end.
    var limit: WallTime?

    /// The stored form.
    var sealed: SharedSecret {
        SharedSecret.jsonObject { text in
            text.member("instanceId", instanceId)
            text.member("scheme", scheme.rawValue)
            if let limit { text.member("limit", limit.milliseconds) }
        }
    }

    /// Returns the end that still applies to an instance. A limited registration does not become unlimited while it
    /// lasts.
    func limit(of instanceId: String, at now: WallTime) -> WallTime? {
        guard instanceId == self.instanceId, let limit, limit > now else { return nil }
        return limit
    }
}

extension Registration {
    /// Parses the stored form.
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
    var registration: Registration? { refreshToken.flatMap(Registration.init) }
}
