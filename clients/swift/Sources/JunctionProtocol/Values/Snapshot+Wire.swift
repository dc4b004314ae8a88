extension Snapshot: WireObject {
    package static let fields = Fields(
        at: "snapshot",
        Snapshot.init(
            revision:
            changedAt:
            state:
            flags:
            provider:
            scheme:
            userId:
            externalUserId:
            teamId:
            environment:
            region:
            accessToken:
            renewal:
            termination:
            authorization:
            storage:
        ),
        Field("revision", \.revision, .unsigned, "rises whenever any other member changes"),
        Field("changedAt", \.changedAt, .timestamp, "when that was"),
        Field("state", \.state, .word(State.known), "the state in one word"),
        Field("flags", \.flags, .words(Flag.known), else: [], "what else is the case"),
        Field("provider", \.provider, .text, "junction, social, sinch or oauth"),
        Field("scheme", \.scheme, orNull: .string(of: Credential.schemes), "how the user came to be signed in"),
        Field(
            "userId",
            \.userId,
            orNull: .string,
            "the signed-in user, as the provider spells the id; in terminated, the user whose session has ended"
        ),
        Field("externalUserId", \.externalUserId, orNull: .string, "the user as the app names them"),
        Field("teamId", \.teamId, orNull: .string, "the team that the user belongs to"),
        Field("environment", \.environment, orNull: .string, "sandbox or production"),
        Field("region", \.region, orNull: .string, "where the provider keeps the user's data"),
        Field("accessToken", \.accessToken, orNull: .object, "the life of the present access token"),
        Field("renewal", \.renewal, .object, else: Renewal(), "what the renewal scheduler is doing"),
        Field("termination", \.termination, orNull: .object, "why the provider ended the session"),
        Field("authorization", \.authorization, orNull: .object, "a sign-in that a person has yet to approve"),
        Field("storage", \.storage, .object, else: .unknown, "how the session is kept")
    )

    package static let schema = Schema.reference("Snapshot")
}

extension Snapshot.TokenLife: WireObject {
    package static let fields = Fields(
        at: "accessToken",
        Snapshot.TokenLife.init(issuedAt:expiresAt:generation:),
        Field("issuedAt", \.issuedAt, .timestamp, "when the provider issued it"),
        Field("expiresAt", \.expiresAt, .timestamp, "when it dies"),
        Field("generation", \.generation, .unsigned, "every new token has a higher number")
    )
}

extension Snapshot.Renewal: WireObject {
    package static let fields = Fields(
        at: "renewal",
        Snapshot.Renewal.init(phase:notBefore:failures:lastError:needsHandler:),
        Field("phase", \.phase, .word(Phase.known), "what the scheduler is at"),
        Field("notBefore", \.notBefore, orNull: .timestamp, "when it goes on, if that is a matter of time"),
        Field("failures", \.failures, .count, else: 0, "how many attempts failed in a row"),
        Field("lastError", \.lastError, orNull: .string, "what went wrong last"),
        Field(
            "needsHandler",
            \.needsHandler,
            .boolean,
            else: false,
            "whether the next renewal needs a session handler and none is registered"
        )
    )
}

extension Snapshot.Authorization: WireObject {
    package static let fields = Fields(
        at: "authorization",
        Snapshot.Authorization.init(userCode:verificationUri:verificationUriComplete:expiresAt:),
        Field("userCode", \.userCode, orNull: .secret, "what the person types; for callers who may manage"),
        Field("verificationUri", \.verificationUri, orNull: .string, "where; for callers who may manage"),
        Field(
            "verificationUriComplete",
            \.verificationUriComplete,
            orNull: .secret,
            "the same address with the code in it; for callers who may manage"
        ),
        Field("expiresAt", \.expiresAt, .timestamp, "until when it can be approved")
    )
}

extension Snapshot.Storage: WireObject {
    package static let fields = Fields(
        at: "storage",
        Snapshot.Storage.init(sealedWith:durable:status:readable:reason:),
        Field(
            "sealedWith",
            \.sealedWith,
            .string(of: ["host+tpm2", "tpm2", "host", "file"]),
            "where the sealing key comes from"
        ),
        Field("durable", \.durable, .boolean, "whether what is in memory is also on disk"),
        Field("status", \.status, .word(Status.known), "whether everything that is stored is in order"),
        Field(
            "readable",
            \.readable,
            ifPresent: .boolean,
            "if the status is not ok: whether the daemon has opened the stored session; while it is false, no token can be had"
        ),
        Field(
            "reason",
            \.reason,
            ifPresent: .string,
            "if the status is not ok: what happened, to what, and what to do"
        )
    )

    /// The assumed storage if an older daemon sends none.
    fileprivate static let unknown = Self(sealedWith: "", durable: true, status: .ok)
}
