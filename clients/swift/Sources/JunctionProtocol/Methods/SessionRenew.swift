package import JunctionJSON

/// Renews the access token now, even if no renewal is due.
package enum SessionRenew: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = RenewResult

    package static let name: StaticString = "session.renew"
    package static let capability: Capability? = .token
    package static let summary = "Renews the access token now, past a postponement or a backoff"
    package static let errors: [ErrorCode] = [
        .notSignedIn, .reauthenticationRequired, .sessionTerminated, .providerUnavailable, .misconfigured,
        .storageUnavailable,
        .tokenExpired, .unsupported,
    ]
}

/// The result of a renewal, as far as the caller may see it.
public struct RenewResult: Hashable, Sendable {
    /// The state in one word.
    public let state: Snapshot.State
    /// The times of the new access token.
    public let accessToken: Snapshot.TokenLife?
    /// The whole state, for a caller with the capability `status`; otherwise `nil`.
    public let snapshot: Snapshot?

    /// Makes the result for a caller with the capability `status`.
    public init(_ snapshot: Snapshot) {
        (state, accessToken, self.snapshot) = (snapshot.state, snapshot.accessToken, snapshot)
    }

    /// Makes the result for any other caller.
    public init(state: Snapshot.State, accessToken: Snapshot.TokenLife?) {
        (self.state, self.accessToken, snapshot) = (state, accessToken, nil)
    }
}

// On the wire, the result is a snapshot of which only two members are required.
extension RenewResult: WireValue {
    private static let fields = Fields(
        at: "result",
        RenewResult.init(state:accessToken:),
        Field("state", \.state, .word(Snapshot.State.known), "the state in one word"),
        Field("accessToken", \.accessToken, orNull: .object, "the life of the new access token")
    )

    package init(reading value: JSONValue) throws(WireMismatch) {
        self = value["revision"] == nil ? try Self.fields.read(value) : Self(try Snapshot(reading: value))
    }

    package func write(to writer: inout JSONWriter) {
        if let snapshot {
            snapshot.write(to: &writer)
        } else {
            writer.object { Self.fields.write(self, to: &$0) }
        }
    }

    package static let schema: Schema = {
        let forAll = fields.members
        let others = Snapshot.fields.members.filter { member in
            !forAll.contains { "\($0.name)" == "\(member.name)" }
        }
        return .object(forAll + others.map { Member($0.name, $0.schema, "with status: \($0.summary)", optional: true) })
    }()
}
