package import JunctionSecret

package struct RenewalQuestion: Hashable, Sendable {
    /// Identifies the question. The answer must repeat it.
    package var attempt: AttemptID
    package var reason: RenewalReason
    package var userId: String?
    package var expiresAt: WallTime?
    package var deadline: WallTime
}

/// The reason of a renewal. The raw values are those of the wire.
package enum RenewalReason: String, Hashable, Sendable {
    case missing
    case expiring
    case expired
    case rejected
    case requested
}

/// A connection that has registered as a session handler, and the local user who owns it.
package struct HandlerID: Hashable, Sendable {
    package var number: UInt64
    /// The user id that the kernel reports for the peer.
    package var uid: UInt32
}

/// The answer of a session handler: the secret with which the session is renewed.
package enum RenewalAnswer: Sendable {
    /// The session's own secrets, or only the user's name if that is sufficient.
    case renew
    /// A token that the app's server made for this user.
    case authToken(SharedSecret)
    /// A signature that the app's server made for this user (a legacy scheme). It is not used again after a request
    /// that may have arrived.
    case signature(SharedSecret, sequence: UInt64)

    var authToken: SharedSecret? {
        if case .authToken(let token) = self { token } else { nil }
    }
}

/// The answer of a handler. It names the secret and does not contain it.
package enum HandlerAnswer: Hashable, Sendable {
    case renew
    /// A token or a signature that the app's server made.
    case secret(HandlerSecret)
    /// The handler cannot help now. An invalid answer and a closed connection mean the same.
    case unable
    /// The handler cannot help now, and gives the reason.
    case failed(String)
}

/// A handler's secret, until the provider has accepted or refused it.
package struct HandlerSecret: Hashable, Sendable {
    package var secret: SecretRef
    /// Whether the secret may arrive at the provider only once, such as a signature with its sequence.
    package var isSpentByUse = false
}
